"""Studies: releases and attacks over products of settings, all else equal."""
