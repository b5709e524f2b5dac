import { strings } from '../strings/strings.ts';

const KB = 1024;
const MB = KB * KB;

/** How large something is, for people. */
export function formatBytes(count: number): string {
  const { bytes } = strings.tools.result;
  if (count < KB) return bytes(String(Math.round(count)), 'B');
  if (count < MB) return bytes((count / KB).toFixed(count < 10 * KB ? 1 : 0), 'KB');
  return bytes((count / MB).toFixed(1), 'MB');
}
