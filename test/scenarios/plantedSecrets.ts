import { randomUUID } from 'node:crypto';

/** Values that may be nowhere, and the search for them in every form a text could carry them in. */
export interface PlantedSecrets {
  /** A new value under this name; it holds characters that an encoding would change. */
  create(name: string): string;
  /** One that somebody else chose: a cookie, a key, a token. */
  add(name: string, value: string): void;
  readonly names: readonly string[];
  /** Which of them the text holds, and as what. */
  findIn(text: string): string[];
}

export function createPlantedSecrets(): PlantedSecrets {
  const values = new Map<string, readonly [form: string, text: string][]>();
  const add = (name: string, value: string) => {
    if (value.length < 16) throw new Error(`${name} is too short to be looked for`);
    values.set(name, encodedForms(value));
  };
  return {
    create(name) {
      const value = `pl4nted+${name.replaceAll(/\W/g, '')}/${randomUUID()}=`;
      add(name, value);
      return value;
    },
    add,
    get names() {
      return [...values.keys()];
    },
    findIn: (text) =>
      [...values].flatMap(([name, encodings]) => {
        const encoding = encodings.find(([, encodedText]) => text.includes(encodedText));
        return encoding ? [`${name} (${encoding[0]})`] : [];
      }),
  };
}

/** As it is, and as what a careless line of code could have made of it. */
export function encodedForms(value: string): [form: string, text: string][] {
  const bytes = Buffer.from(value);
  const percentEncoded = encodeURIComponent(value);
  return [
    ['plain', value],
    ['percent', percentEncoded],
    ['percent, lower case', percentEncoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())],
    ['form', new URLSearchParams({ '': value }).toString().slice(1)],
    ['hex', bytes.toString('hex')],
    ...[0, 1, 2].flatMap((offset): [string, string][] => {
      const text = encodeAtOffset(bytes, offset);
      return [
        ['base64', text],
        ['base64url', text.replaceAll('+', '-').replaceAll('/', '_')],
      ];
    }),
  ];
}

/** The characters that are the same whatever stands around it, when this many bytes stand before it. */
function encodeAtOffset(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  const bits = 8 * (offset + bytes.length);
  return text.slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
}
