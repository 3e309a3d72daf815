import matplotlib.pyplot as plt

from aucuba.demo import main


def test_the_demo_prints_the_two_numbers_and_draws(tmp_path, capsys):
    picture = main(tmp_path / "new folder")
    plt.close("all")
    assert picture.read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert "AUC               0.99" in printed
    assert "pAUC[0.0, 0.05]  0.93" in printed
    assert str(picture) in printed
