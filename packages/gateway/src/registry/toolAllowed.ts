import type { ServerSettings } from '@behalf/settings';

/**
 * Whether the definition lets this tool exist here. Asked when tools are listed and again when one is called: a name
 * that is hidden can still be guessed. A tool whose annotations are not known is not read-only.
 */
export function toolAllowed({ tools }: ServerSettings, name: string, isReadOnly: boolean): boolean {
  if (!tools) return true;
  if (tools.exclude?.some((glob) => matchesGlob(glob, name))) return false;
  if (tools.include && !tools.include.some((glob) => matchesGlob(glob, name))) return false;
  return isReadOnly || !tools.readOnlyOnly;
}

/** `*` for any text, `?` for one character. Goes back to the last `*` only, so no name makes it slow. */
function matchesGlob(glob: string, text: string): boolean {
  let g = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (glob[g] === '*') {
      star = g;
      mark = t;
      g += 1;
    } else if (glob[g] === '?' || (g < glob.length && glob[g] === text[t])) {
      g += 1;
      t += 1;
    } else if (star >= 0) {
      g = star + 1;
      mark += 1;
      t = mark;
    } else return false;
  }
  while (glob[g] === '*') g += 1;
  return g === glob.length;
}
