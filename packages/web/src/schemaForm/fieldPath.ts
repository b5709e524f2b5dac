/** Where in the arguments: names of members and places in lists. */
export type FieldPath = readonly (string | number)[];

/** One text for each place. A number and the same number as a name are one place: the gateway writes both alike. */
export function pathKey(path: FieldPath): string {
  return JSON.stringify(path.map(String));
}

/** What the gateway writes: `arguments.items[0].name`, and `["..."]` for what is no plain name. */
const STEP_PATTERN = /\.([A-Za-z_$][\w$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** The place that a path of the gateway names; undefined where it cannot be read. */
export function parsePath(text: string): FieldPath | undefined {
  if (!text.startsWith('arguments')) return undefined;
  const path: string[] = [];
  STEP_PATTERN.lastIndex = 'arguments'.length;
  while (STEP_PATTERN.lastIndex < text.length) {
    const step = STEP_PATTERN.exec(text);
    if (!step) return undefined;
    const [, name, index, quoted] = step;
    path.push(name ?? index ?? (JSON.parse(quoted ?? '""') as string));
  }
  return path;
}
