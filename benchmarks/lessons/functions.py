"""Releases as books, courses and encyclopedias teach them, written as someone new to the matter types them in.

Global `numpy.random`, tables of pandas and no word of dpaudit. After Near and Abuah, Programming Differential Privacy (chapters 3
to 13); Dwork and Roth 2014; the OpenDP and diffprivlib guides; Wikipedia's articles; and common posts of blogs and courses.
"""

# ruff: noqa: ANN001, ANN201, D103, NPY002 - functions are written as a newcomer writes them
import numpy as np
import pandas as pd

MARITAL = ["Married", "Never-married", "Divorced", "Widowed"]
EDUCATION = ["11th", "HS-grad", "Some-college", "Assoc", "Bachelors", "Masters", "Doctorate"]


def laplace_mech(v, sensitivity, epsilon):
    return v + np.random.laplace(loc=0, scale=sensitivity / epsilon)


def gaussian_mech_vec(v, sensitivity, epsilon, delta):
    sigma = np.sqrt(2 * np.log(1.25 / delta)) * sensitivity / epsilon
    return [one + np.random.normal(loc=0, scale=sigma) for one in v]


def count_of_forty(adult, epsilon):
    return laplace_mech(len(adult[adult["Age"] >= 40]), 1, epsilon)


def clipped_sum(adult, epsilon):
    return laplace_mech(adult["Age"].clip(lower=0, upper=125).sum(), 125, epsilon)


def sum_of_gains(adult, epsilon):
    # The largest gain in the table, as a first look at it shows.
    return laplace_mech(adult["Capital Gain"].sum(), adult["Capital Gain"].max(), epsilon)


def average_age(adult, epsilon):
    total = laplace_mech(adult["Age"].clip(lower=0, upper=125).sum(), 125, epsilon)
    return total / laplace_mech(len(adult), 1, epsilon)


def average_age_halved(adult, epsilon):
    total = laplace_mech(adult["Age"].clip(lower=0, upper=125).sum(), 125, epsilon / 2)
    return total / laplace_mech(len(adult), 1, epsilon / 2)


def education_histogram(adult, epsilon):
    return adult["Education"].value_counts().apply(lambda v: laplace_mech(v, 1, epsilon))


def education_of_a_list(adult, epsilon):
    counts = adult["Education"].value_counts()
    return pd.Series({name: laplace_mech(counts.get(name, 0), 1, epsilon) for name in EDUCATION})


def crosstab(adult, epsilon):
    return pd.crosstab(adult["Education"], adult["Marital Status"]).map(lambda v: laplace_mech(v, 1, epsilon))


def noisy_max(adult, epsilon):
    scores = [adult["Marital Status"].value_counts().get(name, 0) for name in MARITAL]
    noisy_scores = [laplace_mech(score, 1, epsilon) for score in scores]
    return MARITAL[np.argmax(noisy_scores)]


def exponential(adult, epsilon):
    scores = np.array([(adult["Marital Status"] == name).sum() for name in MARITAL])
    probabilities = np.exp(epsilon * (scores - scores.max()) / 2)
    return np.random.choice(MARITAL, 1, p=probabilities / probabilities.sum())[0]


def exponential_of_the_table(adult, epsilon):
    options = adult["Marital Status"].unique()
    scores = np.array([(adult["Marital Status"] == name).sum() for name in options])
    probabilities = np.exp(epsilon * (scores - scores.max()) / 2)
    return np.random.choice(options, 1, p=probabilities / probabilities.sum())[0]


def above_threshold(adult, epsilon):
    threshold = 60 + np.random.laplace(loc=0, scale=2 / epsilon)
    for age in range(80, 10, -10):
        if (adult["Age"] >= age).sum() + np.random.laplace(loc=0, scale=4 / epsilon) >= threshold:
            return age
    return -1


def above_threshold_one_noise(adult, epsilon):
    threshold = 60 + np.random.laplace(loc=0, scale=2 / epsilon)
    for age in range(80, 10, -10):
        if (adult["Age"] >= age).sum() >= threshold:
            return age
    return -1


def randomized_response(answers):
    return [answer if np.random.randint(0, 2) == 0 else np.random.randint(0, 2) for answer in answers]


def unary_encoding(answers, p=0.75, q=0.25):
    counts = np.zeros(2)
    for answer in answers:
        counts += [np.random.random() < (p if answer == value else q) for value in (0, 1)]
    return (counts - len(answers) * q) / (p - q)


def synthetic_ages(adult, epsilon):
    domain = np.arange(0, 100)
    counts = [laplace_mech((adult["Age"] == age).sum(), 1, epsilon) for age in domain]
    kept = np.clip(counts, 0, None)
    return np.random.choice(domain, 20, p=kept / kept.sum())


def sample_and_aggregate(adult, epsilon, k=12):
    chunks = np.array_split(adult["Age"].to_numpy(), k)
    answers = [np.clip(np.mean(chunk), 0, 100) for chunk in chunks]
    return np.mean(answers) + np.random.laplace(loc=0, scale=100 / k / epsilon)


def gaussian_sums(adult, epsilon, delta):
    counts = [(adult["Marital Status"] == name).sum() for name in MARITAL]
    return gaussian_mech_vec(counts, 1, epsilon, delta)


def thresholded_histogram(adult, epsilon, delta):
    tau = 1 + np.log(1 / (2 * delta)) / epsilon
    noisy = {name: laplace_mech(count, 1, epsilon) for name, count in adult["Education"].value_counts().items()}
    return {name: noisy[name] for name in sorted(noisy) if noisy[name] > tau}


def resized_mean(ages, epsilon, size=100, lower=0.0, upper=100.0):
    clamped = list(np.clip(ages, lower, upper))
    resized = list(np.random.permutation(clamped)[:size]) + [50.0] * max(0, size - len(clamped))
    return laplace_mech(np.mean(resized), (upper - lower) / size, epsilon)


def mean_with_bounds_of_the_data(ages, epsilon):
    lower, upper = min(ages), max(ages)
    return laplace_mech(np.mean(ages), (upper - lower) / len(ages), epsilon)


def mean_of_course(db, epsilon):
    return laplace_mech(np.mean(db), 1 / len(db), epsilon)


def median_like_a_mean(ages, epsilon):
    return laplace_mech(np.median(np.clip(ages, 0, 100)), 100 / len(ages), epsilon)
