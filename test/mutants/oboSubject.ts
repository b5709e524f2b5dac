import type { Mutant } from '../mutants.ts';

const source = 'packages/gateway/src/credentials/obo/subjectSource.ts';
const claims = 'packages/gateway/src/credentials/obo/pendingClaims.ts';
const challenge = 'packages/gateway/src/credentials/obo/claimsChallenge.ts';
const openid = 'packages/gateway/src/identity/openid';
const route = 'api/src/oauth/openid.ts';

export const oboSubject: readonly Mutant[] = [
  {
    id: 'identity.principal.key',
    file: 'packages/gateway/src/principal/principal.ts',
    find: 'if (Object.isFrozen(of)) keys.set(of, key);',
    replace: 'keys.set(of, key);',
  },
  {
    id: 'identity.principal.key',
    file: 'packages/gateway/src/principal/principal.ts',
    find: 'JSON.stringify([of.tenant, of.userId])',
    replace: 'JSON.stringify([of.userId])',
  },
  {
    id: 'obo.subject.presented',
    file: `${openid}/bearerCallers.ts`,
    find: '    by: bearerOf(verified),\n',
    replace: "    by: { ...bearerOf(verified), token: presented('x', verified) },\n",
  },
  {
    id: 'obo.subject.presented',
    file: `${openid}/bearerCallers.ts`,
    find: 'token: presented(token, verified)',
    replace: 'token: presented(token, { ...verified, ...user })',
  },
  {
    id: 'obo.subject.hidden',
    file: `${openid}/bearerCallers.ts`,
    find: 'text: new HiddenText(token),',
    replace: 'text: Object.assign(new HiddenText(token), { kept: token }), shown: token,',
  },
  {
    id: 'obo.subject.hidden',
    file: 'packages/kernel/src/hiddenText.ts',
    find: "  toJSON(): string {\n    return '[hidden]';",
    replace: '  toJSON(): string {\n    return this.#text;',
  },
  {
    id: 'obo.subject.hidden',
    file: 'packages/kernel/src/hiddenText.ts',
    find: "  [inspect.custom](): string {\n    return '[hidden]';",
    replace: '  [inspect.custom](): string {\n    return this.#text;',
  },
  {
    id: 'obo.subject.bearer',
    file: source,
    find: 'if (clock.now() >= token.expiresAt)',
    replace: 'if (clock.now() > token.expiresAt)',
  },
  {
    id: 'obo.subject.bearer',
    file: source,
    find: 'if (token?.issuer !== issuer)',
    replace: "if (!token || issuer === '')",
  },
  {
    id: 'obo.subject.bearer',
    file: source,
    find: "principal.kind !== 'user' || login",
    replace: 'login',
  },
  {
    id: 'obo.subject.bearer',
    file: source,
    find: "if (by.via !== 'bearer' || kind !== 'access_token') {",
    replace: "if (by.via !== 'bearer' || !by.token) {",
  },
  {
    id: 'obo.subject.session',
    file: source,
    find: "only === null ? via === 'openid' : hash === only",
    replace: "via === 'openid' && hash !== ''",
  },
  {
    id: 'obo.subject.session',
    file: source,
    find: 'until: Math.min(found.usableUntil, expiresAt) };\n  }\n\n  function usableIdToken',
    replace:
      'until: Math.max(found.usableUntil, expiresAt, clock.now() + 60_000) };\n  }\n\n  function usableIdToken',
  },
  {
    id: 'obo.subject.session',
    file: source,
    find: "isOver ? 'expired_no_refresh' : 'absent'",
    replace: "isOver ? 'absent' : 'absent'",
  },
  {
    id: 'obo.subject.owner',
    file: 'packages/gateway/src/identity/openid/loginContext.ts',
    find: 'subject: account.subject,',
    replace: "subject: record.canonicalUrl.replace('login:', ''),",
  },
  {
    id: 'obo.subject.owner',
    file: 'packages/gateway/src/identity/openid/loginContext.ts',
    find: 'issuer: settings.issuer,\n          subject',
    replace: 'issuer: record.issuer,\n          subject',
  },
  {
    id: 'obo.subject.owner',
    file: source,
    find: "        if (account.subject !== subject.subject) throw new SubjectUnavailable('absent', 'bearer');\n",
    replace: '        void account;\n',
  },
  {
    id: 'obo.subject.owner',
    file: source,
    find: '!isTheirs || account.disabledAt !== null',
    replace: '!isTheirs',
  },
  {
    id: 'obo.subject.owner',
    file: source,
    find: 'account?.tenant === tenant && account.issuer',
    replace: "account && tenant !== '' && account.issuer",
  },
  {
    id: 'obo.subject.owner',
    file: source,
    find: 'const name = JSON.stringify([tenant, userId, by.via, place, kind]);',
    replace: 'const name = JSON.stringify([by.via, place, typeof tenant, typeof userId]);',
  },
  {
    id: 'obo.subject.owner',
    file: source,
    find: 'access_token: new WeakMap<UserPrincipal, string>()',
    replace:
      'access_token: ((bys: WeakMap<SignedInBy, string>) => ({ get: ({ by }: UserPrincipal) => bys.get(by), set: ({ by }: UserPrincipal, name: string) => bys.set(by, name) }))(new WeakMap())',
  },
  {
    id: 'obo.subject.input',
    file: source,
    find: "if (by.via !== 'bearer' || kind !== 'access_token') {",
    replace: "if (by.via !== 'bearer' && !('token' in by)) {",
  },
  {
    id: 'obo.subject.api-key',
    file: source,
    find: "!by.scopes.includes('obo')",
    replace: "!by.scopes.includes('obo') && !by.scopes.includes('mcp')",
  },
  {
    id: 'obo.subject.api-key',
    file: source,
    find: '.toReversed()',
    replace: '',
  },
  {
    id: 'obo.subject.api-key',
    file: source,
    find: "isOver ||= held.kind === 'over';",
    replace: "isOver ||= held.kind === 'over';\n      break;",
  },
  {
    id: 'obo.subject.no-provider',
    file: source,
    find: ' || login?.issuer !== principal.issuer',
    replace: ' || !login',
  },
  {
    id: 'obo.subject.warm',
    file: source,
    find: '    if (before) return before;\n',
    replace: '    void before;\n    known.clear();\n',
  },
  {
    id: 'obo.subject.warm',
    file: source,
    find: 'flights.run([key, epoch], () => load(key, principal, find), { detached: true })',
    replace: 'flights.size < 0 ? flights.idle().then(() => entry!.subject) : load(key, principal, find)',
  },
  {
    id: 'obo.subject.warm',
    file: source,
    find: 'entry && now < entry.until && isCurrent',
    replace: 'entry && isCurrent',
  },
  {
    id: 'obo.subject.warm',
    file: source,
    find: 'mine.slice(0, MOST_SESSIONS)',
    replace: 'mine.slice(0, MOST_SESSIONS * 10)',
  },
  {
    id: 'obo.subject.signed-out',
    file: source,
    find: "if (topic !== 'sessions' && topic !== 'users') return;",
    replace: "if (topic !== 'users') return;",
  },
  {
    id: 'obo.subject.signed-out',
    file: source,
    find: "id === '*' || id === ",
    replace: 'id === ',
  },
  {
    id: 'obo.subject.signed-out',
    file: source,
    find: 'if (begun === epoch) {',
    replace: 'if (begun <= epoch) {',
  },
  {
    id: 'obo.subject.signed-out',
    file: source,
    find: '[key, epoch]',
    replace: '[key, 0]',
  },
  {
    id: 'obo.subject.signed-out',
    file: source,
    find: 'isCurrent(changes, now, entry.readAt)',
    replace: 'isCurrent(changes, now, Math.max(entry.readAt, now - 1))',
  },
  {
    id: 'obo.subject.signed-out',
    file: source,
    find: 'for (const { hash: session, expiresAt } of mine.slice(0, MOST_SESSIONS)) {',
    replace:
      'for (const { hash: session, expiresAt } of only === null ? mine.slice(0, MOST_SESSIONS) : [{ hash: only, expiresAt: Infinity }]) {',
  },
  {
    id: 'obo.subject.outage',
    file: source,
    find: 'await users.findById(userId), principal',
    replace:
      'await users.findById(userId).catch(() => ({ ...principal, id: userId, disabledAt: null }) as never), principal',
  },
  {
    id: 'obo.subject.outage',
    file: source,
    find: '    known.delete(key);\n    const { userId } = principal;\n    const held = await find(requireAccount(await users.findById(userId), principal));',
    replace:
      '    const before = known.get(key);\n    const { userId } = principal;\n    const read = async () => find(requireAccount(await users.findById(userId), principal));\n    const held = await read().catch((error) => before ?? Promise.reject(error));',
  },
  {
    id: 'obo.subject.claims',
    file: 'api/src/oauth/claimedLogin.ts',
    find: 'return user ? await pendingClaims.find(principalKey(user)) : undefined;',
    replace: 'return user !== undefined ? await pendingClaims.find(\'["default","u-ada"]\') : undefined;',
  },
  {
    id: 'obo.subject.claims',
    file: route,
    find: '          if (hasClaims) await dropClaims(user);\n',
    replace: '',
  },
  {
    id: 'obo.subject.claims',
    file: route,
    find: 'if (hasClaims) await dropClaims(user);',
    replace: 'await dropClaims(user);',
  },
  {
    id: 'obo.subject.claims',
    file: `${openid}/openIdLogin.ts`,
    find: '        ...(claims !== undefined && { claims }),\n',
    replace: '',
  },
  {
    id: 'obo.subject.claims-kept',
    file: claims,
    find: 'kept && clock.now() < kept.expiresAt',
    replace: 'kept && clock.now() > 0',
  },
  {
    id: 'obo.subject.claims-checked',
    file: claims,
    find: 'if (text === undefined) return;',
    replace: 'if (text === null) return;',
  },
  {
    id: 'obo.subject.claims-checked',
    file: claims,
    find: 'const text = claimsText(claims);',
    replace: "const text = claims === '' ? claimsText(claims) : claims;",
  },
  {
    id: 'obo.subject.claims-checked',
    file: challenge,
    find: 'return Buffer.byteLength(text) > mostBytes ? undefined : text;',
    replace: 'return text.length > mostBytes ? undefined : text;',
  },
  {
    id: 'obo.subject.claims-server',
    file: challenge,
    find: "?.['access_token'];\n  return isObject(wanted) ? written({ access_token: wanted }, MOST_BYTES_OF_SERVER) : undefined;",
    replace: ';\n  return wanted && written(wanted, MOST_BYTES_OF_SERVER);',
  },
  {
    id: 'obo.subject.claims-server',
    file: challenge,
    find: 'return isObject(wanted) ? written(',
    replace: 'return wanted !== undefined ? written(',
  },
  {
    id: 'obo.subject.claims-server',
    file: challenge,
    find: 'written({ access_token: wanted }, MOST_BYTES_OF_SERVER)',
    replace: 'written({ access_token: wanted }, MOST_BYTES)',
  },
  {
    id: 'obo.subject.claims-server',
    file: challenge,
    find: 'const text = JSON.stringify(sorted(claims));',
    replace: 'const text = JSON.stringify(claims);',
  },
  {
    id: 'obo.subject.claims-refused',
    file: route,
    find: '          await dropRefused(req, flow);\n',
    replace: '',
  },
  {
    id: 'obo.subject.claims-refused',
    file: route,
    find: 'flow !== null && login.isWithClaims(flow) ? holder(req) : null',
    replace: 'holder(req)',
  },
  {
    id: 'obo.subject.claims-refused',
    file: 'api/src/oauth/claimedLogin.ts',
    find: 'return begun.url.length > LONGEST_URL ? login.begin(returnTo, more) : begun;',
    replace: 'return begun;',
  },
  {
    id: 'obo.subject.claims',
    file: `${openid}/openIdLogin.ts`,
    find: 'flows.open(sealed)?.hasClaims === true',
    replace: 'flows.open(sealed) !== null',
  },
  {
    id: 'obo.subject.claims-sealed',
    file: claims,
    find: "{ tenant: '-', principal, server",
    replace: "{ tenant: '-', principal: principal && '-', server",
  },
  {
    id: 'obo.subject.claims-sealed',
    file: claims,
    find: 'return JSON.parse(keyring.open(sealed, contextOf(principal))) as Kept;',
    replace:
      "return JSON.parse(sealed.startsWith('{') ? sealed : keyring.open(sealed, contextOf(principal))) as Kept;",
  },
];
