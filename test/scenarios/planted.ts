import { randomUUID } from 'node:crypto';

/** Values that may be nowhere, and the search for them in every form a text could carry them in. */
export interface Planted {
  /** A new value under this name; it holds characters that an encoding would change. */
  make(name: string): string;
  /** One that somebody else chose: a cookie, a key, a token. */
  add(name: string, value: string): void;
  readonly names: readonly string[];
  /** Which of them the text holds, and as what. */
  foundIn(text: string): string[];
}

export function createPlanted(): Planted {
  const values = new Map<string, readonly [form: string, text: string][]>();
  const add = (name: string, value: string) => {
    if (value.length < 16) throw new Error(`${name} is too short to be looked for`);
    values.set(name, formsOf(value));
  };
  return {
    make(name) {
      const value = `pl4nted+${name.replaceAll(/\W/g, '')}/${randomUUID()}=`;
      add(name, value);
      return value;
    },
    add,
    get names() {
      return [...values.keys()];
    },
    foundIn: (text) =>
      [...values].flatMap(([name, forms]) => {
        const form = forms.find(([, shape]) => text.includes(shape));
        return form ? [`${name} (${form[0]})`] : [];
      }),
  };
}

/** As it is, and as what a careless line of code could have made of it. */
export function formsOf(value: string): [form: string, text: string][] {
  const bytes = Buffer.from(value);
  const percent = encodeURIComponent(value);
  return [
    ['plain', value],
    ['percent', percent],
    ['percent, lower case', percent.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())],
    ['form', new URLSearchParams({ '': value }).toString().slice(1)],
    ['hex', bytes.toString('hex')],
    ...[0, 1, 2].flatMap((before): [string, string][] => {
      const text = withinBase64(bytes, before);
      return [
        ['base64', text],
        ['base64url', text.replaceAll('+', '-').replaceAll('/', '_')],
      ];
    }),
  ];
}

/** The characters that are the same whatever stands around it, when this many bytes stand before it. */
function withinBase64(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  const bits = 8 * (before + bytes.length);
  return text.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6));
}
