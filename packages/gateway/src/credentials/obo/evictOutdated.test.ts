import { expect, test } from '@jest/globals';
import { userServer } from '../../../test/servers.ts';
import { createOutdatedTokenEviction } from './evictOutdated.ts';

test('tokens of a server that is gone or changed are forgotten, and no others', () => {
  const evicted: string[][] = [];
  const update = createOutdatedTokenEviction({
    evictServer: async (...server) => void evicted.push(server),
  });
  const mail = userServer({ obo: { scopes: 'a' } }, { id: 'mail' });
  const wider = userServer({ obo: { scopes: 'a b' } }, { id: 'mail' });
  const notes = userServer({ obo: { scopes: 'a' } }, { id: 'notes', source: 'user' });
  const graph = userServer({ headers: { A: '{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}' } }, { id: 'graph' });
  const plain = userServer({ startup: false }, { id: 'plain' });
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
