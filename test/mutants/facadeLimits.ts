import type { Mutant } from '../mutants.ts';

const api = 'api/src/facade';
const stores = 'packages/stores/src';

/** What strangers can make the authorization server keep, and ask for. */
export const facadeLimits: readonly Mutant[] = [
  {
    id: 'facade.floods.rate',
    file: `${api}/routes.ts`,
    find: "if (await mayAsk(req, res, 'begin')) await",
    replace: 'await',
  },
  {
    id: 'facade.floods.rate',
    file: `${api}/routes.ts`,
    find: "if (await mayAsk(req, res, 'resume')) await",
    replace: 'await',
  },
  {
    id: 'facade.floods.rate',
    file: `${api}/interactionLimit.ts`,
    find: "networkOf(addressOf(req), 'site')",
    replace: 'networkOf(addressOf(req))',
  },
  {
    id: 'facade.floods.size',
    file: `${api}/routes.ts`,
    find: "if (query.length > LONGEST_QUERY) refuse(res, 414, 'invalid_request');\n    else ",
    replace: '',
  },
  {
    id: 'facade.floods.held',
    file: `${api}/interactionLimit.ts`,
    find: "if (waitMs === 0) await records.makeRoom('Interaction', most, INTERACTION_MS);",
    replace: '',
  },
  {
    id: 'stores.facade.first-out',
    file: `${stores}/mongo/facade.ts`,
    find: 'if (deletedCount > 0) return deletedCount;',
    replace: 'return deletedCount;',
  },
  {
    id: 'stores.facade.first-out',
    file: `${stores}/sqlite/facade.ts`,
    find: 'AND expiresAt <= ? ORDER BY expiresAt LIMIT ?',
    replace: 'AND expiresAt <= ? ORDER BY expiresAt DESC LIMIT ?',
  },
  {
    id: 'facade.registration.rate',
    file: `${api}/registrationLimit.ts`,
    find: " || all.take('', '')",
    replace: '',
  },
  {
    id: 'facade.registration.rate',
    file: `${api}/registrationLimit.ts`,
    find: "networkOf(addressOf(req), 'site')",
    replace: 'networkOf(addressOf(req))',
  },
  {
    id: 'facade.registration.rate',
    file: `${api}/registrationLimit.ts`,
    find: "own.take('', networkOf(addressOf(req), 'site')) || all.take('', '')",
    replace: "all.take('', '') || own.take('', networkOf(addressOf(req), 'site'))",
  },
  {
    id: 'facade.registration.cap',
    file: `${api}/registrationLimit.ts`,
    find: "records.makeRoom('Client', most, UNUSED_CLIENT_MS)",
    replace: "records.makeRoom('Client', 1e9, UNUSED_CLIENT_MS)",
  },
  {
    id: 'facade.registration.cap',
    file: `${api}/registrationLimit.ts`,
    find: "records.makeRoom('Client', most, UNUSED_CLIENT_MS)",
    replace: "records.makeRoom('Client', most, 100 * UNUSED_CLIENT_MS)",
  },
  {
    id: 'facade.cimd.reflection',
    file: `${api}/configuration.ts`,
    find: 'sectorIdentifierUriValidate: () => false,',
    replace: 'sectorIdentifierUriValidate: () => true,',
  },
  {
    id: 'facade.cimd.reflection',
    file: `${api}/clientFetch.ts`,
    find: 'if (known && clock.now() < known.until) return known.answer;',
    replace: '',
  },
  {
    id: 'facade.cimd.rate',
    file: `${api}/clientFetch.ts`,
    find: "if (!asks.mayAsk()) throw new Error('Too many addresses in a minute');",
    replace: '',
  },
  {
    id: 'facade.cimd.rate',
    file: `${api}/askLimit.ts`,
    find: "networkOf(addressOf(req), 'site')",
    replace: 'networkOf(addressOf(req))',
  },
  {
    id: 'facade.cimd.rate',
    file: `${api}/askLimit.ts`,
    find: 'req !== undefined && buckets',
    replace: 'req === undefined || buckets',
  },
  {
    id: 'facade.cimd.rate',
    file: `${api}/interactionRoutes.ts`,
    find: 'asks.during(req, () => provider.Client.find(clientId))',
    replace: 'provider.Client.find(clientId)',
  },
  {
    id: 'facade.cimd.rate',
    file: `${api}/interactionRoutes.ts`,
    find: "new Set(['SessionNotFound', 'InvalidClient', ",
    replace: "new Set(['SessionNotFound', ",
  },
];
