import { describe, expect, test } from '@jest/globals';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { Era, JsonObject } from '../upstream/upstream.ts';
import { readMirror } from './mirrorHeaders.ts';
import { buildToolList } from './toolList.ts';

const server = { id: 'srv', settings: { normalizedName: 'srv' } } as ServerSnapshot;

function build(items: JsonObject[], era: Era = 'modern') {
  const dropped: JsonObject[] = [];
  const list = buildToolList(
    server,
    { items, complete: true, era },
    (_event, fields) => void dropped.push(fields),
  );
  return { list, dropped };
}
const mirrorOf = (schema: JsonObject) => {
  const read = readMirror(schema);
  return read.ok ? read.mirror : read.reason;
};
const property = (schema: JsonObject) => ({ type: 'object', properties: { a: schema } });

describe('a list of tools', () => {
  test('everything a server says of a tool is kept, frozen, and found by both names', () => {
    const definition = {
      name: 'add',
      title: 'Add',
      description: 'Adds.',
      inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
      _meta: { ui: { resourceUri: 'ui://x' } },
      icons: [{ src: 'https://example.com/i.png' }],
    };
    const { icons: _icons, ...named } = definition;
    const { list, dropped } = build([definition, { name: 'bare' }]);
    const tool = list.find('add');
    expect(tool).toMatchObject({ ...named, definition, publicName: 'add_mcp_srv' });
    expect(list.findPublic('add_mcp_srv')).toBe(tool);
    expect(() => ((tool?.inputSchema['properties'] as Record<string, unknown>)['b'] = 1)).toThrow(TypeError);
    expect(() => (list.tools as unknown[]).push(1)).toThrow(TypeError);
    expect(list.find('bare')).toMatchObject({ inputSchema: { type: 'object' }, description: undefined });
    expect(dropped).toEqual([]);
  });

  test('a tool beyond reason is dropped by name, and the others stay', () => {
    const { list, dropped } = build([
      { name: 'fine' },
      { name: 'huge', description: 'x'.repeat(300 * 1024) },
      { name: 'wide', inputSchema: { enum: ['x'.repeat(300 * 1024)] } },
      { name: 'fine', description: 'again' },
      { name: '' },
      { name: 7 },
      { name: 'x'.repeat(300) },
      { name: 'odd', inputSchema: 'none', annotations: [], description: 4 },
    ]);
    expect(list.tools.map(({ name }) => name)).toEqual(['fine', 'odd']);
    expect(list.find('fine')?.description).toBeUndefined();
    expect(list.find('odd')).toMatchObject({ inputSchema: { type: 'object' }, annotations: undefined });
    expect(dropped.map(({ tool, reason }) => [String(tool).slice(0, 5), reason])).toEqual([
      ['huge', 'larger than 256 KiB'],
      ['wide', 'larger than 256 KiB'],
      ['fine', 'listed twice'],
      ['', 'invalid name'],
      ['', 'invalid name'],
      ['xxxxx', 'invalid name'],
    ]);
  });

  test('a list full of such tools takes a few lines of the log', () => {
    const { list, dropped } = build([
      { name: 'fine' },
      ...Array.from({ length: 500 }, () => ({ name: 'fine', description: 'again' })),
    ]);
    expect(list.tools).toHaveLength(1);
    expect(dropped).toHaveLength(21);
    expect(dropped.at(-1)).toEqual({ server: 'srv', count: 500 });
    // The name is the server's choice: it writes no lines of its own, and need not be a text at all.
    let deep: unknown = [];
    for (let i = 0; i < 5_000; i += 1) deep = [deep];
    const odd = build([
      { name: 'a\n{"level":"error"}\u001b[2J' },
      { name: 'a\n{"level":"error"}\u001b[2J' },
      { name: deep },
    ]);
    expect(odd.dropped).toEqual([
      { server: 'srv', tool: 'a {"level":"error"} [2J', reason: 'listed twice' },
      { server: 'srv', tool: '', reason: 'invalid name' },
    ]);
  });

  test('an annotation in the wrong place or form drops its tool, and no other', () => {
    const string = (header: unknown) => ({ type: 'string', 'x-mcp-header': header });
    const invalid: JsonObject[] = [
      string('Root'),
      property(string('two words')),
      property(string('')),
      property(string('a\r\nHost: evil')),
      property(string(7)),
      property({ type: 'number', 'x-mcp-header': 'N' }),
      property({ type: ['string', 'null'], 'x-mcp-header': 'N' }),
      property({ 'x-mcp-header': 'N' }),
      property({ type: 'array', items: string('I') }),
      property({ anyOf: [string('I')] }),
      { $defs: { d: string('D') } },
      { properties: { a: string('Same'), b: string('sAME') } },
      { 'x-unknown': { deep: string('D') } },
    ];
    for (const inputSchema of invalid) {
      const { list, dropped } = build([{ name: 'bad', inputSchema }, { name: 'good' }]);
      expect([inputSchema, list.tools.map(({ name }) => name)]).toEqual([inputSchema, ['good']]);
      expect(dropped[0]).toMatchObject({
        server: 'srv',
        tool: 'bad',
        reason: expect.stringMatching(/^x-mcp-header, /),
      });
      // Before the modern era the word means nothing.
      expect(build([{ name: 'bad', inputSchema }], 'legacy').list.find('bad')?.mirror).toBeUndefined();
    }
    // Data is no schema, and a field may have any name.
    expect(mirrorOf(property({ type: 'string', examples: [string('E')] }))).toBeUndefined();
    expect(mirrorOf({ properties: { 'x-mcp-header': { type: 'string' } } })).toBeUndefined();
  });

  test('annotated arguments are repeated in headers, encoded where they must be', () => {
    const mirror = mirrorOf({
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        deep: { type: 'object', properties: { n: { type: 'integer', 'x-mcp-header': 'N' } } },
        on: { type: 'boolean', 'x-mcp-header': 'On' },
      },
    });
    if (typeof mirror !== 'function') throw new Error('no mirror');
    expect(mirror({ region: 'eu-west 1', deep: { n: 42 }, on: false })).toEqual({
      'mcp-param-region': 'eu-west 1',
      'mcp-param-n': '42',
      'mcp-param-on': 'false',
    });
    expect(mirror({ region: null, deep: {}, on: undefined })).toEqual({});
    // Not what was declared: nothing is claimed.
    expect(mirror({ region: 7, deep: { n: 1.5 }, on: 'true' })).toEqual({});
    expect(mirror({ deep: { n: 2 ** 60 } })).toEqual({});
    expect(mirror(Object.create({ region: 'inherited' }) as JsonObject)).toEqual({});
    const base64 = (text: string) => ({
      'mcp-param-region': `=?base64?${Buffer.from(text).toString('base64')}?=`,
    });
    for (const text of [
      '',
      'Zürich',
      'a\r\nHost: evil',
      ' padded',
      'tab\t',
      '=?base64?eA==?=',
      '日本',
      '\u0000',
    ]) {
      expect(mirror({ region: text })).toEqual(base64(text));
    }
  });
});
