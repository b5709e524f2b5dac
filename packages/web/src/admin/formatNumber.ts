const number = new Intl.NumberFormat();
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

export function formatNumber(value: number): string {
  return number.format(value);
}

/** A part of a whole in percent; of nothing it is nothing. */
export function formatShare(part: number, whole: number): string {
  return share.format(whole === 0 ? 0 : part / whole);
}
