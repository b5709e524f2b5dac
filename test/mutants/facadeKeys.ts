import type { Mutant } from '../mutants.ts';

const identity = 'packages/gateway/src/identity';

export const facadeKeys: readonly Mutant[] = [
  {
    id: 'facade.keys',
    file: `${identity}/facade/facadeKeys.ts`,
    find: '(await records.add<First>(KEYS, FIRST, own, { ttlMs: KEPT_MS })) ?? own',
    replace: '(await records.add<First>(KEYS, FIRST, own, { ttlMs: KEPT_MS })) === null ? own : own',
  },
  {
    id: 'facade.keys.rotation',
    file: `${identity}/facade/signingKeys.ts`,
    find: 'now < from(next) + VERIFIES_MS',
    replace: 'now < from(next)',
  },
  {
    id: 'facade.keys.rotation',
    file: `${identity}/facade/signingKeys.ts`,
    find: 'return at >= signing || (next !== undefined && now < from(next) + VERIFIES_MS);',
    replace: 'return at >= signing || next !== undefined;',
  },
  {
    id: 'facade.keys.rotation',
    file: `${identity}/facade/signingKeys.ts`,
    find: ': madeAt + STALENESS_MS;',
    replace: ': madeAt;',
  },
  {
    id: 'facade.keys.rotation',
    file: `${identity}/facade/facadeKeys.ts`,
    find: 'return isJustRead ? seen : ',
    replace: 'return isJustRead === undefined ? seen : ',
  },
  {
    id: 'facade.keys.emergency',
    file: `${identity}/facade/signingKeys.ts`,
    find: '    if (at < alone) return false;\n',
    replace: '',
  },
  {
    id: 'facade.keys.emergency',
    file: `${identity}/facade/signingKeys.ts`,
    find: 'const over = isAlone ? before : ',
    replace: 'const over = isAlone ? [] : ',
  },
  {
    id: 'facade.keys.emergency',
    file: `${identity}/facade/signingKeys.ts`,
    find: 'isAlone ? Math.min(madeAt, now)',
    replace: 'isAlone ? Math.max(madeAt, 0)',
  },
  {
    id: 'facade.keys.emergency',
    file: `${identity}/facade/signingKeys.ts`,
    find: '!key.isAlone && !live.includes(key)',
    replace: '!live.includes(key)',
  },
  {
    id: 'facade.keys.emergency',
    file: `${identity}/facade/facadeKeys.ts`,
    find: 'held && isCurrent(changes, clock.now(), held.readAt) ? held',
    replace: 'held ? held',
  },
  {
    id: 'identity.session.cache-keys',
    file: `${identity}/callerCache.ts`,
    find: ': DOUBTED, generation: of }',
    replace: ': DOUBTED, generation: generation() }',
  },
  {
    id: 'identity.session.cache-keys',
    file: `${identity}/callerCache.ts`,
    find: 'if (before?.generation === of && begun',
    replace: 'if (before && begun',
  },
  {
    id: 'facade.keys.streams',
    file: `${identity}/callerWatch.ts`,
    find: "['keys', 'sessions', 'users', 'facade'] as const",
    replace: "['keys', 'sessions', 'users'] as const",
  },
  {
    id: 'facade.keys.streams',
    file: `${identity}/callerWatch.ts`,
    find: 'by.grant?.key : undefined',
    replace: 'by.grant?.session : undefined',
  },
  {
    id: 'facade.keys.streams',
    file: `${identity}/facade/facadeKeys.ts`,
    find: 'kids.filter((kid) => live.has(kid))',
    replace: 'kids.filter((kid) => live.size > 0 || live.has(kid))',
  },
  {
    id: 'facade.bearer',
    file: `${identity}/facade/grantBearers.ts`,
    find: '|| (exp - iat) * 1_000 > ACCESS_LIFETIME_MS)',
    replace: '|| exp < iat)',
  },
];
