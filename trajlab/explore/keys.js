// Ctrl+Enter (or Cmd+Enter) runs the query; Tab leaves the box, as everywhere. Everything works without this file.
document.addEventListener("keydown", (event) => {
  const form = document.querySelector("form.query");
  if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit();
  }
});
for (const picker of document.querySelectorAll("form.pick select")) {
  picker.addEventListener("change", () => picker.form.requestSubmit());
}
