type Paint = (text: string) => string;

export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly caution: Paint;
}

/** Colours where somebody looks, else the text as it is. */
export function createStyle(hasColors: boolean): Style {
  const paint =
    (startCode: number, endCode: number): Paint =>
    (text) =>
      hasColors ? `\u001b[${startCode}m${text}\u001b[${endCode}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    good: paint(32, 39),
    bad: paint(31, 39),
    caution: paint(33, 39),
  };
}
