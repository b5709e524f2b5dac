export type Schema = Readonly<Record<string, unknown>>;

export type ReadValue =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** The types that a schema names; none where it says nothing of them. */
export function typesOf({ type }: Schema): readonly string[] {
  if (typeof type === 'string') return [type];
  return Array.isArray(type)
    ? type.filter((one): one is string => typeof one === 'string' && one !== 'null')
    : [];
}

/** What was typed in, as the schema wants it. Several values are a list, where it wants one. */
export function readValue(schema: Schema | undefined, values: readonly string[]): ReadValue {
  const types = schema ? typesOf(schema) : [];
  const [first = '', ...more] = values;
  if (types.includes('array')) return readList(schema, values);
  if (more.length > 0) return wrong('stands there more than once');
  // Where a text is as good as anything else, it is what was typed.
  if (types.includes('string')) return right(first);
  if (types.length === 0) return readAnything(schema, first);
  for (const type of types) {
    const read = readAs(type, first);
    if (read.ok) return read;
  }
  return wrong(`is no ${types.join(' or ')}`);
}

function readAs(type: string, text: string): ReadValue {
  switch (type) {
    case 'integer':
    case 'number': {
      const number = text.trim() === '' ? NaN : Number(text);
      const fits = type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number);
      return fits ? right(number) : wrong(`is no ${type}`);
    }
    case 'boolean':
      return text === 'true' || text === 'false'
        ? right(text === 'true')
        : wrong('is neither true nor false');
    case 'object': {
      const value = parsed(text);
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      return isObject ? right(value) : wrong('is no JSON object');
    }
    default:
      return wrong(`is of an unknown type ${type}`);
  }
}

function readList(schema: Schema | undefined, values: readonly string[]): ReadValue {
  const [first = ''] = values;
  if (values.length === 1 && first.trimStart().startsWith('[')) {
    const value = parsed(first);
    return Array.isArray(value) ? right(value) : wrong('is no JSON list');
  }
  const items = schema?.['items'];
  const of = typeof items === 'object' && items !== null ? (items as Schema) : undefined;
  const list: unknown[] = [];
  for (const text of values) {
    const read = readValue(of, [text]);
    if (!read.ok) return wrong(`has an entry that ${read.problem}`);
    list.push(read.value);
  }
  return right(list);
}

/** Nobody says what it should be: one of the allowed texts, else JSON, else the text. */
function readAnything(schema: Schema | undefined, text: string): ReadValue {
  const allowed = schema?.['enum'];
  if (Array.isArray(allowed) && allowed.includes(text)) return right(text);
  const value = parsed(text);
  return right(value === undefined ? text : value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const right = (value: unknown): ReadValue => ({ ok: true, value });
const wrong = (problem: string): ReadValue => ({ ok: false, problem });
