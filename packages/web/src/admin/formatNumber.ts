const numberFormat = new Intl.NumberFormat();
const percentFormat = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

export function formatNumber(value: number): string {
  return numberFormat.format(value);
}

/** A part of a whole in percent; of nothing it is nothing. */
export function formatShare(part: number, whole: number): string {
  return percentFormat.format(whole === 0 ? 0 : part / whole);
}
