import { verifies } from '@behalf/testkit';
import { largeCatalog, practice, questions } from '@behalf/testkit/catalog';
import { describe, expect } from '@jest/globals';
import type { Json } from '../../upstream/upstream.ts';
import type { CatalogTool } from '../toolList.ts';
import { termsOf } from './terms.ts';
import { createToolSearch, type SearchedTool } from './toolSearch.ts';
import { readToolText } from './toolText.ts';

function toolOf(server: string, definition: Json): SearchedTool {
  const { name, title, description, inputSchema = { type: 'object' } } = definition;
  const tool = { ...definition, title, description, inputSchema, definition } as unknown as CatalogTool;
  return { name: `${server}__${String(name)}`, server: { name: server }, tool };
}

const thousand = largeCatalog().flatMap(({ name, tools }) =>
  tools.map((tool) => toolOf(name, tool as unknown as Json)),
);

describe('searching tools', () => {
  const find = (tools: readonly SearchedTool[], query: string, limit = 5) =>
    createToolSearch()
      .find(tools, query, limit)
      .map(({ name }) => name);

  verifies('search.found', 'each of the questions, among a thousand', () => {
    expect(thousand).toHaveLength(1_000);
    const places = questions.map(({ asked, server, tool }) => {
      const at = find(thousand, asked).indexOf(`${server}__${tool}`);
      return [asked, at >= 0];
    });
    expect(places).toEqual(questions.map(({ asked }) => [asked, true]));
    // One of these is not found among the first five: which room tool is meant, nothing in the question says.
    const tried = practice.filter(({ asked, server, tool }) =>
      find(thousand, asked).includes(`${server}__${tool}`),
    );
    expect(tried.length).toBeGreaterThanOrEqual(11);
  });

  verifies('search.rank.words', 'in every spelling', () => {
    const same = termsOf('create pull request');
    for (const spelled of [
      'createPullRequests',
      'create_pull_request',
      'Create-Pull-Request',
      'creating PULL requests',
    ])
      expect([spelled, termsOf(spelled).filter((term) => same.includes(term))]).toEqual([spelled, same]);
    expect(termsOf('GitHub')).toContain('github');
    expect(termsOf('URLs of EC2 SQLQuery')).toEqual(['url', 'of', 'ec2', 'sql', 'query', 'sqlquery']);
    expect(termsOf('Überprüfung')).toEqual(['uberprufung']);
    const tools = [
      toolOf('a', { name: 'getRepository' }),
      toolOf('a', { name: 'x', inputSchema: { properties: { mode: { enum: ['squash'] } } } }),
      toolOf('a', { name: 'y', inputSchema: { properties: { p: { description: 'the archived boxes' } } } }),
      toolOf('a', {
        name: 'z',
        inputSchema: { properties: { list: { items: { properties: { colour: {} } } } } },
      }),
      toolOf('a', { name: 'v', title: 'Weather' }),
    ];
    expect(find(tools, 'which repo')).toEqual(['a__getRepository']);
    expect(find(tools, 'squashing')).toEqual(['a__x']);
    expect(find(tools, 'archive a box')).toEqual(['a__y']);
    expect(find(tools, 'colours')).toEqual(['a__z']);
    expect(find(tools, 'weather')).toEqual(['a__v']);
    expect(find(tools, '1234 ???')).toEqual([]);
    expect(find(tools, '')).toEqual([]);
  });

  verifies('search.rank.ties', 'by name where two are alike', () => {
    const alike = ['c', 'a', 'e', 'b', 'd'].map((server) => toolOf(server, { name: 'send_mail' }));
    const once = find(alike, 'send a mail');
    expect(once).toEqual(['a', 'b', 'c', 'd', 'e'].map((server) => `${server}__send_mail`));
    expect(find([...alike].reverse(), 'send a mail')).toEqual(once);
    for (const { asked } of questions)
      expect(find([...thousand].reverse(), asked, 20)).toEqual(find(thousand, asked, 20));
  });

  verifies('search.rank.bounded', 'of whatever size', () => {
    const word = 'refund payment customer ';
    const endless = toolOf('evil', {
      name: 'n'.repeat(256),
      description: word.repeat(8_000) + Array.from({ length: 9_000 }, (_, i) => `w${i}`).join(' '),
      inputSchema: {
        properties: Object.fromEntries(
          Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { description: word.repeat(50), enum: [word] }]),
        ),
      },
    });
    const { terms, length } = readToolText(endless.tool, 'evil');
    expect(terms.length).toBeLessThanOrEqual(400);
    expect(length).toBeLessThan(1_000);
    for (const term of terms) expect(term.length).toBeLessThanOrEqual(32);
    // To say a word a thousand times is no reason to be found before who says it in a name.
    expect(find([...thousand, endless], 'refund a payment')[0]).toBe('stripe__refund_charge');
    // Of many words, the first; of a schema, what is on the outside.
    const properties: Record<string, Json> = {};
    for (let i = 0; i < 90; i += 1) {
      const words = Array.from({ length: 20 }, (_, j) => `w${i}x${j}`);
      properties[`q${i}`] = { description: words.join(' ') };
    }
    const wordy = toolOf('evil', { name: 'wordy', inputSchema: { properties } });
    expect(readToolText(wordy.tool, 'evil').terms).toHaveLength(400);
    let deep: Json = {};
    for (let i = 0; i < 5_000; i += 1) deep = { properties: { [`inner${i}`]: deep } };
    const nested = toolOf('evil', { name: 'deep', inputSchema: deep });
    expect(readToolText(nested.tool, 'evil').terms).toHaveLength(6);
  });

  verifies('search.rank.once', 'and anew when there was no room for it', () => {
    let read = 0;
    const counted = (name: string) => {
      const { tool, ...rest } = toolOf('a', { name });
      return Object.freeze({
        ...rest,
        tool: new Proxy(tool, {
          get(target, key) {
            if (key === 'inputSchema') read += 1;
            return target[key as keyof CatalogTool];
          },
        }),
      });
    };
    const tools = ['one', 'two', 'three', 'four'].map(counted);
    const roomy = createToolSearch();
    for (let i = 0; i < 3; i += 1) roomy.find(tools, 'one', 5);
    expect(read).toBe(4);
    const small = createToolSearch({ mostTerms: 4 });
    for (let i = 0; i < 3; i += 1) expect(small.find(tools, 'four', 5)).toHaveLength(1);
    expect(read).toBeGreaterThan(8);
    // The newer half takes these, and what moved to the older one is still known.
    const [some, others] = [tools, ['five', 'six', 'seven', 'eight'].map(counted)];
    const half = createToolSearch({ mostTerms: 20 });
    read = 0;
    for (const asked of [some, others, others]) half.find(asked, 'one', 5);
    expect(read).toBe(8);
  });

  verifies('search.visible', 'what is not there weighs nothing', () => {
    const open = ['alpha beta', 'beta gamma', 'gamma gamma alpha'].map((description, i) =>
      toolOf('open', { name: `t${i}`, description }),
    );
    const hidden = Array.from({ length: 50 }, (_, i) =>
      toolOf('hidden', { name: `h${i}`, description: 'alpha' }),
    );
    const search = createToolSearch();
    const before = search.find(open, 'alpha beta gamma', 5);
    search.find([...open, ...hidden], 'alpha beta gamma', 5);
    expect(search.find(open, 'alpha beta gamma', 5)).toEqual(before);
  });
});
