import type { Mutant } from '../mutants.ts';

const lists = 'packages/gateway/src/catalog/listings.ts';
const kept = 'packages/gateway/src/catalog/keptListings.ts';

export const listings: readonly Mutant[] = [
  {
    id: 'catalog.listings.bytes',
    file: kept,
    find: 'while (count > 0 && lacks()) dropOf(fullest((server) => server.bytes));',
    replace: '',
  },
  {
    id: 'catalog.listings.bytes',
    file: kept,
    find: 'while (ofServer() > 0 && ofServer() + needed > most.ofServer) dropOf(serverId);',
    replace: '',
  },
  {
    id: 'catalog.listings.bytes',
    file: kept,
    find: 'size(b) - size(a)',
    replace: 'size(a) - size(b)',
  },
  {
    id: 'catalog.listings.bytes',
    file: kept,
    find: 'const kept = isLarge(whole) ? shortened(whole) : whole;',
    replace: 'const kept = whole;',
  },
  {
    id: 'catalog.listings.bytes',
    file: kept,
    find: '    bytes -= kept.bytes;\n    count',
    replace: '    count',
  },
  {
    id: 'catalog.listings.last',
    file: kept,
    find: 'for (const id of servers.keys()) shortenIn(id, ({ until }) => until <= now());',
    replace: '{}',
  },
  {
    id: 'catalog.listings.last',
    file: lists,
    find: 'kept.shorten(server.id, (_, other) => other === key);',
    replace: '{}',
  },
  {
    id: 'catalog.listings.overtaken',
    file: lists,
    find: 'if (isOf(begun, serverId, holderKey)) begun.isValid = false;',
    replace: 'begun.isValid = false;',
  },
  {
    id: 'catalog.listings.overtaken',
    file: lists,
    find: 'if (isOf(begun, serverId, holderKey)) begun.isValid = false;',
    replace: '{}',
  },
];
