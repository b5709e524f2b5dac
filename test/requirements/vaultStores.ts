import type { Requirement } from '../requirements.ts';

/** Of what the token vault keeps in the stores. */
export const vaultStores = {
  'stores.credentials.list': ['done', 'Credentials of a holder are listed in order, and nobody else’s.'],
  'stores.credentials.replace': [
    'done',
    'Of parallel writes over one pair of tokens, one is made; the key and the fence are out of its reach.',
  ],
  'stores.credentials.default': [
    'done',
    'Exactly one credential of a holder at a server is the default one.',
  ],
  'stores.claims.one-holder': ['done', 'The right to send a refresh token has at most one holder.'],
  'stores.claims.condition': ['done', 'Only the current refresh token of an active credential is claimed.'],
  'stores.claims.settled': ['done', 'A settled claim is free and not in doubt; the fence only grows.'],
  'stores.claims.take-over': ['done', 'A claim past its deadline is taken over once, and that is told.'],
  'stores.claims.extend': ['done', 'A claim is prolonged by its holder alone.'],
  'stores.claims.unrelated': ['done', 'An unrelated write between claim and persist is in nobody’s way.'],
  'stores.claims.across-processes': ['done', 'Of several processes one claims and one stores the next pair.'],
  'stores.claims.killed-holder': [
    'done',
    'The claim of a killed process is taken over once, after its deadline, as one in doubt.',
  ],
  'stores.credential-usage.latest': ['done', 'The last use of each credential is kept and can be asked for.'],
  'stores.oauth-clients.first': ['done', 'Of clients registered at once the first counts, for everybody.'],
  'stores.oauth-clients.replaced': [
    'done',
    'A registration takes the place of the one that was seen, as one step.',
  ],
  'stores.oauth-clients.removal': ['done', 'A registration is removed only as the one that was seen.'],
  'stores.flows.round-trip': ['done', 'A sign-in is found by its id, its state, and whose it is.'],
  'stores.flows.one-pending': ['done', 'A user has one pending sign-in at a server; the others join it.'],
  'stores.flows.caps': ['done', 'Users and tenants have a limit of pending sign-ins.'],
  'stores.flows.move': ['done', 'A sign-in moves on once, and only where all that is asked of it holds.'],
  'stores.flows.removal': ['done', 'Sign-ins go with their user, and when nobody asks for them any more.'],
  'stores.flows.across-processes': ['done', 'Of several processes one starts a sign-in, and one takes it.'],
  'stores.orphans.kept': ['done', 'A pair that could not be stored is found until somebody has stored it.'],
  'stores.orphans.very-one': ['done', 'Who takes a pair away takes none that was put in after it.'],
  'stores.orphans.unswept': ['done', 'A pair is kept whatever else lies where it is put.'],
  'stores.orphans.peer': ['done', 'Every process finds a pair that one of them could not store.'],
  'stores.orphans.files': ['done', 'Pairs that wait beside SQLite are ours alone to read, for a day.'],
  'stores.open.orphans': [
    'done',
    'Without Redis, tokens that MongoDB could not take wait in the data directory.',
  ],
  'stores.sqlite.soon': ['done', 'On SQLite a change of another process is heard within 250 ms.'],
  'stores.upgrade.credentials': ['done', 'Tokens of an earlier version, which open no more, are removed.'],
  'stores.raw.reseal': ['done', 'A sealed value is replaced only where it still is what was read.'],
  'stores.rotate.old-writer': [
    'done',
    'A rotation finds what is written under the old key meanwhile, and tells of who goes on doing so.',
  ],
  'vault.v05.rotation': ['done', 'A rotation of the key under load loses nothing.'],
  'vault.v04.kept': ['done', 'A credential that does not open survives other writes, a rotation and a copy.'],
} as const satisfies Record<string, Requirement>;
