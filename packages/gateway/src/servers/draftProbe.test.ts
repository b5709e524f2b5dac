import { DiscoverToolsView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { toDiscoveredTools } from './draftProbe.ts';

const shown = ['s3cret-of-a-user', 's3cret "quoted"'];
const seen = (items: Record<string, unknown>[], complete = true) => {
  const found = toDiscoveredTools({ items, complete }, shown);
  // Whatever a server sends, what is made of it is an answer.
  DiscoverToolsView.parse({ outcome: 'tools', ...found });
  return found;
};

describe('what is shown of tools that nobody saved', () => {
  test('has an end, whatever the server sends', () => {
    const many = Array.from({ length: 600 }, (_, n) => ({ name: `t${n}` }));
    expect(seen(many)).toMatchObject({ incomplete: true });
    expect(seen(many).tools).toHaveLength(500);
    expect(seen([{ name: 'a' }], false)).toMatchObject({ incomplete: true });
    const [long] = seen([
      { name: 'n'.repeat(999), title: 't'.repeat(999), description: 'd'.repeat(9_999) },
    ]).tools;
    expect([long?.name.length, long?.title?.length, long?.description.length]).toEqual([256, 256, 4_096]);
    const odd = [{ name: 7 }, {}, { name: '' }, { name: 'a', title: 1, description: {}, inputSchema: [] }];
    expect(seen(odd)).toEqual({ tools: [{ name: 'a', description: '', inputSchema: { type: 'object' } }] });
  });

  test('leaves out schemas that are too large, alone or together', () => {
    const schema = (size: number) => ({ type: 'object', description: 'x'.repeat(size) });
    const [large] = seen([{ name: 'a', inputSchema: schema(40_000) }]).tools;
    expect(large).toEqual({
      ...{ name: 'a', description: '', inputSchema: { type: 'object' } },
      schemaOmitted: true,
    });
    const all = seen(Array.from({ length: 100 }, (_, n) => ({ name: `t${n}`, inputSchema: schema(30_000) })));
    expect(all.tools.filter(({ schemaOmitted }) => !schemaOmitted)).toHaveLength(34);
    expect(JSON.stringify(all).length).toBeLessThan(1.1 * 1024 * 1024);
  });

  test('repeats nothing that the server was shown', () => {
    const items = shown.map((secret) => ({
      ...{ name: `a ${secret}`, title: secret, description: `${'x'.repeat(4_090)}${secret}` },
      inputSchema: { type: 'object', properties: { [secret]: {} } },
    }));
    const text = JSON.stringify(seen(items));
    // Not even the beginning of it, where a text is cut.
    expect(text).not.toContain('s3cre');
    expect(seen(items).tools.map(({ schemaOmitted }) => schemaOmitted)).toEqual([true, true]);
  });
});
