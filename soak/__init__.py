"""Does trajlab hold when it is killed, when the disk is full, when words or files are bad?

    make soak                             all of it, for about ten minutes
    make soak SECONDS=60 SEED=7           shorter, and with other moments and files
    python -m soak kills --only release   one part, one verb
    python -m soak --write                the outcomes of fixtures/broken again, to be read by eye

`verbs` knows how each command is called, `scenes` prepares the folders that they work in, `state` says what
lies in such a folder. The parts are `kills`, `full_disk`, `mistakes` (bad words), `corpus` (bad files) and
`fuzz` (files nobody thought of).
"""
