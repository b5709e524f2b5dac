type Paint = (text: string) => string;

export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly caution: Paint;
}

/** Colours where somebody looks, else the text as it is. */
export function createStyle(coloured: boolean): Style {
  const paint =
    (from: number, to: number): Paint =>
    (text) =>
      coloured ? `\u001b[${from}m${text}\u001b[${to}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    good: paint(32, 39),
    bad: paint(31, 39),
    caution: paint(33, 39),
  };
}
