"""
Pixels of noisy letters
=======================

Every pixel of a picture of letters is flipped with probability 0.15. A factored model sees one pixel at
a time and can only tell dark from light; a pairwise model learns that neighbours belong together and
ranks the pixels of the letters first, holes filled and specks removed.
"""

# %%
# Train both models on twenty pictures of an A, then rank the pixels of a word they have never seen.

from reproductions.experiments.letters import draw_figure, run, score_table

results = run(seed=0)
figure = draw_figure(results)

# %%
# The mean over twenty test pictures:

print(score_table(results))

# %%
# The learned weights: one for the pixel, one for a pair of neighbours.

ranker = results["pairwise", "full"]["ranker"]
print(f"pixel {ranker.coef_[0]:.2f}, pair {ranker.edge_coef_[0]:.2f}")
print(ranker.status_)
