import type { Mutant } from '../mutants.ts';

const obo = 'packages/gateway/src/credentials/obo';
const answer = `${obo}/providers/idJagAnswer.ts`;
const provider = `${obo}/providers/idJagProvider.ts`;
const lend = 'packages/gateway/src/credentials/vault/lend.ts';

export const idJag: readonly Mutant[] = [
  {
    id: 'id-jag.extension',
    file: 'packages/gateway/src/toolcall/watchServer.ts',
    find: '    extension: first.extension,\n',
    replace: '',
  },
  {
    id: 'id-jag.checked',
    file: answer,
    find: "  if (only(aud) !== expected.audience) return 'its aud is not the authorization server';\n",
    replace: '',
  },
  {
    id: 'id-jag.checked',
    file: answer,
    find: "  if (clientId !== expected.clientId) return 'its client_id is not ours there';\n",
    replace: '',
  },
  {
    id: 'id-jag.checked',
    file: answer,
    find: 'named === undefined || (canonicalUrl(named) ?? named) !== wanted',
    replace: 'named !== undefined && (canonicalUrl(named) ?? named) !== wanted',
  },
  {
    id: 'id-jag.checked',
    file: answer,
    find: 'return others.length === 0 && typeof first',
    replace: 'return typeof first',
  },
  {
    id: 'id-jag.checked',
    file: answer,
    find: "typeof exp !== 'number' || exp <= now - TOLERANCE_S",
    replace: "typeof exp !== 'number'",
  },
  {
    id: 'id-jag.not-bearer',
    file: answer,
    find: "issued !== ID_JAG_TYPE || typeof type !== 'string' || type.toUpperCase() !== 'N_A'",
    replace: 'issued !== ID_JAG_TYPE',
  },
  {
    id: 'id-jag.not-bearer',
    file: answer,
    find: "issued !== ID_JAG_TYPE || typeof type !== 'string'",
    replace: "typeof type !== 'string'",
  },
  {
    id: 'id-jag.single-use',
    file: provider,
    find: 'if (sent.get(assertion.jti)) {',
    replace: 'if (sent.size < 0) {',
  },
  {
    id: 'id-jag.secret-stays',
    file: `${obo}/providers/exchangeForm.ts`,
    find: "    ['assertion', assertion],\n  ];\n}\n\nfunction asked",
    replace: "    ['assertion', 'subject-token-of-ada'],\n  ];\n}\n\nfunction asked",
  },
  {
    id: 'id-jag.faults',
    file: provider,
    find: '    claims: undefined,\n',
    replace: '',
  },
  {
    id: 'id-jag.faults',
    file: provider,
    find: "new ExchangeFault(asksUser ? 'OBO_REJECTED' : code, {",
    replace: 'new ExchangeFault(code, {',
  },
  {
    id: 'id-jag.listed',
    file: provider,
    find: '    if (found) return found;\n',
    replace: '    if (found ?? only) return found ?? only;\n',
  },
  {
    id: 'id-jag.listed',
    file: provider,
    find: 'const usable = chosen ? [chosen] : audience === undefined ? resourceServers : [];',
    replace: 'const usable = chosen ? [chosen] : resourceServers;',
  },
  {
    id: 'id-jag.listed',
    file: 'packages/settings/src/obo/oboTargetProblem.ts',
    find: 'if (audience === undefined || resourceIssuers.includes(audience)) return null;',
    replace: 'if (audience === undefined || resourceIssuers.length > 0) return null;',
  },
  {
    id: 'id-jag.subject',
    file: `${obo}/subjectSource.ts`,
    find: "if (by.via !== 'bearer' || kind !== 'access_token') {",
    replace: "if (by.via !== 'bearer') {",
  },
  {
    id: 'id-jag.subject-own',
    file: `${obo}/idSubject.ts`,
    find: 'iss !== issuer || sub !== subject || ',
    replace: '',
  },
  {
    id: 'id-jag.subject-fresh',
    file: `${obo}/subjectSource.ts`,
    find: 'if (!idToken || expiresAt === undefined || expiresAt <= clock.now()) return undefined;',
    replace: 'if (!idToken || expiresAt === undefined) return undefined;',
  },
  {
    id: 'id-jag.refresh-subject',
    file: `${obo}/subject.ts`,
    find: "    throw new Error('A refresh token is lent, and shown to nobody');",
    replace: "    return '' as never;",
  },
  {
    id: 'id-jag.refresh-subject',
    file: 'packages/gateway/src/identity/openid/loginTokens.ts',
    find: 'await vault.lend(loginKey(of), signal, work)',
    replace: "await vault.lend(loginKey({ ...of, userId: 'u-bob' }), signal, work)",
  },
  {
    id: 'id-jag.refresh-key',
    file: `${obo}/subjectSource.ts`,
    find: "hash: secretHash(JSON.stringify(['refresh_token', found.renewal])),",
    replace: "hash: secretHash(JSON.stringify(['refresh_token', subject])),",
  },
  {
    id: 'id-jag.refresh-key',
    file: `${obo}/subjectSource.ts`,
    find: "hash: secretHash(JSON.stringify(['refresh_token', found.renewal])),",
    replace: 'hash: secretHash(found.accessToken),',
  },
  {
    id: 'id-jag.refresh-turn',
    file: lend,
    find: 'const claimed = await store.claim(id, wish);',
    replace: 'const claimed = { record, tookOver: wish.ttlMs < 0 };',
  },
  {
    id: 'id-jag.refresh-turn',
    file: lend,
    find: 'if (localClock.now() - claimedAt >= timings.sendWithinMs) throw new LentTooLate();',
    replace: 'if (claimedAt < 0) throw new LentTooLate();',
  },
  {
    id: 'id-jag.refresh-turn',
    file: lend,
    find: "if (record.status !== 'active' || fit !== 'fits') return over('rejected');",
    replace: "if (fit !== 'fits') return over('rejected');",
  },
  {
    id: 'id-jag.refresh-rotated',
    file: lend,
    find: 'const kept = await keepPair.keep(pair, owner);',
    replace:
      "const kept = { kind: 'superseded', pair, owner, record, tokens } as unknown as Awaited<ReturnType<typeof keepPair.keep>>;",
  },
  {
    id: 'id-jag.refresh-rotated',
    file: `${obo}/providers/lentGrant.ts`,
    find: 'successor: successorIn(answer),',
    replace: 'successor: successorIn(answer)?.slice(0, 0),',
  },
  {
    id: 'id-jag.refresh-doubt',
    file: lend,
    find: 'await giveBack(isTaken);',
    replace: 'await giveBack(isTaken && false);',
  },
  {
    id: 'id-jag.refresh-doubt',
    file: lend,
    find: 'if (!claimed.tookOver && (!rtSuspect || isProven)) {',
    replace: 'if (!claimed.tookOver || rtSuspect || isProven) {',
  },
  {
    id: 'id-jag.refresh-doubt',
    file: `${obo}/providers/lentGrant.ts`,
    find: 'isInDoubt: answer.status >= 500',
    replace: 'isInDoubt: answer.status > 599',
  },
  {
    id: 'id-jag.refresh-left',
    file: lend,
    find: '        throwIfLeft(signal);\n        onTaken();',
    replace: '        onTaken();',
  },
  {
    id: 'id-jag.refresh-left',
    file: lend,
    find: '      throwIfLeft(signal);\n      const view',
    replace: '      const view',
  },
  {
    id: 'id-jag.refresh-left',
    file: lend,
    find: 'await exclusively(key, signal, ',
    replace: 'await exclusively(key, new AbortController().signal, ',
  },
  {
    id: 'id-jag.refresh-left',
    file: `${obo}/providers/lentGrant.ts`,
    find: 'await lend(signal, ',
    replace: 'await lend(new AbortController().signal, ',
  },
  {
    id: 'id-jag.refresh-moved',
    file: `${obo}/providers/lentGrant.ts`,
    find: 'if (settings.tokenEndpoint === undefined && lent',
    replace: 'if (settings.tokenEndpoint === to.url && lent',
  },
  {
    id: 'id-jag.refresh-moved',
    file: `${obo}/providers/lentGrant.ts`,
    find: 'if (settings.tokenEndpoint === undefined && lent.clientId === settings.clientId) {',
    replace: 'if (settings.tokenEndpoint === undefined) {',
  },
  {
    id: 'id-jag.refresh-place',
    file: `${obo}/providers/lentGrant.ts`,
    find: 'if (lent.endpoint !== to.url || ',
    replace: 'if (',
  },
  {
    id: 'id-jag.refresh-place',
    file: `${obo}/providers/lentGrant.ts`,
    find: ' || lent.clientId !== settings.clientId',
    replace: '',
  },
  {
    id: 'id-jag.refresh-place',
    file: 'packages/settings/src/obo/idJagRules.ts',
    find: 'if (login && isOwn && isAtLogin(provider, login.issuer)) return [];',
    replace: 'if (login && isOwn) return [];',
  },
  {
    id: 'id-jag.key',
    file: `${obo}/providers/providerParts.ts`,
    find: '[credential, ...legs.map((leg) => leg.credential)]',
    replace: '[credential]',
  },
  {
    id: 'id-jag.secrecy',
    file: provider,
    find: 'throw error instanceof ExchangeFault ? ofResourceServer(error) : error;',
    replace:
      'throw error instanceof ExchangeFault ? new ExchangeFault(error.code, { ...error.detail, hint: assertion }) : error;',
  },
];
