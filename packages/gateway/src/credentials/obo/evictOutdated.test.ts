import { expect, test } from '@jest/globals';
import { createUserSnapshot } from '../../../test/servers.ts';
import { createOutdatedTokenEviction } from './cache.ts';

test('tokens of a server that is gone or changed are forgotten, and no others', () => {
  const evicted: string[][] = [];
  const update = createOutdatedTokenEviction({
    evictServer: async (...server) => void evicted.push(server),
  });
  const mail = createUserSnapshot({ obo: { scopes: 'a' } }, { id: 'mail' });
  const wider = createUserSnapshot({ obo: { scopes: 'a b' } }, { id: 'mail' });
  const notes = createUserSnapshot({ obo: { scopes: 'a' } }, { id: 'notes', source: 'user' });
  const graph = createUserSnapshot({ headers: { A: '{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}' } }, { id: 'graph' });
  const plain = createUserSnapshot({ startup: false }, { id: 'plain' });
  update([mail, notes, graph, plain]);
  update([mail, notes, graph, plain]);
  expect(evicted).toEqual([]);
  update([wider, notes, graph]);
  expect(evicted).toEqual([['*', 'mail']]);
  update([wider]);
  expect(evicted.slice(1)).toEqual([
    ['default', 'notes'],
    ['*', 'graph'],
  ]);
});
