"""Derivatives by finite differences, parameters by their definitions."""

import numpy as np
import pytest

from xcurves.kernels.laws import powerlaw

N = np.array([25.0, 90, 400, 3000])
AT = np.array([400.0, 400, 100, 7000])
THETA = np.array([[28, 18, -0.41, 0], [20, 7, -0.01, 0], [32, 5, -0.99, 11], [15, -3, -0.5, 40.0]])


def literal(theta, n, at):
    error, reliance, gamma, delta = theta
    eta = (-reliance / (2 * gamma) - 2 * delta * at ** (2 * gamma)) / at**gamma
    alpha = error - eta * at**gamma - delta * at ** (2 * gamma)
    return alpha, eta, alpha + eta * n**gamma + delta * n ** (2 * gamma)


def test_curve_and_parameters_are_those_of_the_definition():
    found = powerlaw.parameters(THETA, AT)
    for i, theta in enumerate(THETA):
        alpha, eta, curve = literal(theta, N, AT[i])
        np.testing.assert_allclose(found[i], [*theta[:3], alpha, eta, theta[3]], rtol=1e-10)
        np.testing.assert_allclose(powerlaw.curve(THETA, N, AT)[i], curve, rtol=1e-9)
        gamma, delta = theta[2], theta[3]
        reliance = -2 * gamma * (eta * AT[i] ** gamma + 2 * delta * AT[i] ** (2 * gamma))
        assert reliance == pytest.approx(theta[1], rel=1e-9)


def derivative(function, theta, j):
    step = 1e-6 * max(1.0, abs(theta[..., j]).max()) if j != powerlaw.GAMMA else 1e-6
    up, down = theta.copy(), theta.copy()
    up[..., j] += step
    down[..., j] -= step
    return (function(up) - function(down)) / (2 * step)


@pytest.mark.parametrize("j", range(4))
def test_gradient_and_jacobian_are_derivatives(j):
    theta = THETA.copy()
    theta[1, powerlaw.GAMMA] = -0.05  # finite differences need room
    slope = derivative(lambda t: powerlaw.curve(t, N, AT), theta, j)
    np.testing.assert_allclose(powerlaw.gradient(theta, N, AT)[..., j], slope, rtol=2e-4, atol=1e-6)
    of_parameters = derivative(lambda t: powerlaw.parameters(t, AT), theta, j)
    np.testing.assert_allclose(powerlaw.jacobian(theta, AT)[..., j], of_parameters, rtol=2e-4, atol=1e-6)


def test_log_slope_is_the_derivative_by_ln_n():
    up, down = (powerlaw.curve(THETA, N * np.exp(step), AT) for step in (1e-5, -1e-5))
    np.testing.assert_allclose(powerlaw.log_slope(THETA, N, AT), (up - down) / 2e-5, rtol=1e-6)
    at_n = powerlaw.log_slope(THETA, np.array([400.0]), np.full(4, 400.0))[:, 0]
    np.testing.assert_allclose(at_n, -THETA[:, 1] / 2)  # β_N = -2 de/d ln n


def test_intervals_in_logs_are_a_factor_and_its_inverse():
    bounds = powerlaw.around_in_logs(np.array([8.0, 10.0]), np.log([2.0, 5.0]))
    np.testing.assert_allclose(bounds, [[4, 16], [2, 50]])
    ends = powerlaw.around_in_logs(np.array([8.0]), np.log([[2.0, 4.0]]))
    np.testing.assert_allclose(ends, [[4, 32]])
