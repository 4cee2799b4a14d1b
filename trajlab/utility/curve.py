"""The curve that risk and loss lie on, y = -a x^b + c with a, b, c > 0 (yin2015), or why they lie on none.

For a given b the best a and c are those of a straight line through (x^b, y), so only b is searched for: all over
a wide range first, then closely. There are no starting values, and nothing depends on them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LEAST = 4
"""Points: three of them lie on some curve whatever they are."""
LOWEST = 0.01
"""The smallest exponent that is tried: below it a curve is that of the logarithm of the risk."""
STEP = 1e-4
"""Where the second highest risk weighs less beside the highest, a curve is a step: larger exponents are not tried."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Estimates, their standard errors, and the chance of such estimates were they 0; else `reason` tells why not."""

    steps: int
    a: float | None = None
    b: float | None = None
    c: float | None = None
    a_error: float | None = None
    b_error: float | None = None
    c_error: float | None = None
    a_p: float | None = None
    b_p: float | None = None
    c_p: float | None = None
    r2: float | None = None
    reason: str | None = None


def fit(risk: npt.ArrayLike, loss: npt.ArrayLike) -> Curve:
    """The curve of least squares; points without a number are left out.

    Standard errors are those of nonlinear least squares, p-values two-sided from Student's t with n - 3 degrees.
    """
    x, y = np.asarray(risk, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    usable = np.isfinite(x) & np.isfinite(y) & (x >= 0)
    x, y = x[usable], y[usable]
    if reason := _unfit(x, y):
        return Curve(len(x), reason=reason)
    top = x.max()
    b, end = _exponent(x / top, y, highest=_highest(x))
    if end:
        return Curve(len(x), reason=f"no convergence: the {end} b is, the better the points fit, {b:.3g} and beyond")
    bent = (x / top) ** b
    away = bent - bent.mean()
    steep = float(-away @ y / (away @ away))  # of the line through (x / top)^b, which is a top^b
    c = float(y.mean() + steep * bent.mean())
    if not (steep > 0 and c > 0):
        what = "loss does not fall as risk rises" if not steep > 0 else "c would not be above 0"
        return Curve(len(x), reason=f"{what}: no curve -a x^b + c with a, b, c > 0 describes the points")
    left = y + steep * bent - c
    slopes = np.column_stack([-bent, -steep * bent * np.log(np.where(x > 0, x, 1.0)), np.ones(len(x))])
    errors = _errors(slopes, float(left @ left))
    if errors is None:
        return Curve(len(x), reason="no convergence: other values of a, b and c fit the points as well")
    r2 = 1 - float(left @ left) / float(((y - y.mean()) ** 2).sum())
    p = _chances([steep, b, c], errors, free=len(x) - 3)
    shrunk = float(top**b)
    return Curve(len(x), steep / shrunk, b, c, errors[0] / shrunk, errors[1], errors[2], p[0], p[1], p[2], r2)


def _unfit(x: Floats, y: Floats) -> str | None:
    if len(x) < LEAST:
        return f"fewer than {LEAST} points: there are {len(x)}, and three lie on some curve whatever they are"
    different = len(np.unique(x))
    if different == 1:
        return f"constant risk: it is {x[0]:.4g} at all {len(x)} points"
    if different == 2:
        return f"only two different risks at {len(x)} points: any b fits them"
    if np.ptp(y) == 0:
        return f"constant loss: it is {y[0]:.4g} at all {len(y)} points"
    return None


def _highest(x: Floats) -> float:
    """The largest exponent that is tried, at which a is still a number too."""
    second, top = np.unique(x)[-2:]
    step = float(np.log(STEP) / np.log(second / top))
    return step if top >= 1 else min(step, float(-600 / np.log(top)))


def _exponent(x: Floats, y: Floats, highest: float) -> tuple[float, str]:
    """The b whose best a and c leave least, and which end of the range it lies at, if any."""
    from scipy.optimize import minimize_scalar

    def left(log_b: float | Floats) -> Floats:
        bent = x ** np.exp(np.atleast_1d(log_b))[:, None]
        bent -= bent.mean(axis=1, keepdims=True)
        away = y - y.mean()
        along = (bent @ away) ** 2
        size = (bent**2).sum(axis=1)
        explained = np.divide(along, size, out=np.zeros_like(along), where=size > 0)
        return np.asarray((away**2).sum() - explained)

    tries = np.linspace(np.log(LOWEST), np.log(highest), 801)
    best = int(np.argmin(left(tries)))
    if best in (0, len(tries) - 1):
        return float(np.exp(tries[best])), "larger" if best else "smaller"
    found = minimize_scalar(
        lambda log_b: float(left(log_b)[0]),
        bounds=(tries[best - 1], tries[best + 1]),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return float(np.exp(found.x)), ""


def _errors(slopes: Floats, left: float) -> list[float] | None:
    """Standard errors of least squares, from how points change with estimates; None where nothing fixes one of them."""
    scale = np.sqrt((slopes**2).sum(axis=0))
    _, stretch, turned = np.linalg.svd(slopes / np.where(scale > 0, scale, 1), full_matrices=False)
    if stretch[-1] < 1e-10 * stretch[0]:
        return None
    errors: list[float] = (
        np.sqrt(((turned / stretch[:, None]) ** 2).sum(axis=0) * left / (len(slopes) - 3)) / scale
    ).tolist()
    return errors


def _chances(estimates: list[float], errors: list[float], free: int) -> list[float]:
    """Two-sided p-values by Student's t."""
    from scipy.stats import t

    ratio = np.divide(estimates, errors, out=np.full(len(errors), np.inf), where=np.asarray(errors) > 0)
    p: list[float] = (2 * t.sf(ratio, free)).tolist()
    return p
