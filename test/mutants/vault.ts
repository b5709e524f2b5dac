import type { Mutant } from '../mutants.ts';

const credentials = 'packages/gateway/src/credentials';
const vaultFolder = `${credentials}/vault`;
const attempt = `${vaultFolder}/attempt.ts`;
const createVault = `${vaultFolder}/createVault.ts`;
const discards = `${vaultFolder}/discards.ts`;
const disconnect = `${vaultFolder}/disconnect.ts`;
const exclusive = `${vaultFolder}/exclusive.ts`;
const heldToken = `${vaultFolder}/heldToken.ts`;
const judge = `${vaultFolder}/judge.ts`;
const keepPair = `${vaultFolder}/keepPair.ts`;
const openTokens = `${vaultFolder}/openTokens.ts`;
const pair = `${vaultFolder}/pair.ts`;
const refused = `${vaultFolder}/refusedRefresh.ts`;
const renewal = `${vaultFolder}/renewal.ts`;
const savePair = `${vaultFolder}/savePair.ts`;
const snapshots = `${vaultFolder}/snapshots.ts`;
const view = `${vaultFolder}/view.ts`;

export const vault: readonly Mutant[] = [
  {
    id: 'vault.r03.refused-once',
    file: judge,
    find: 'const isRefused = refused === tokens.accessToken;',
    replace: 'const isRefused = refused !== undefined;',
  },
  {
    id: 'vault.r04.compare',
    file: judge,
    find: 'const isUsable = !isRefused && now < held.usableUntil;',
    replace: 'const isUsable = refused === undefined && now < held.usableUntil;',
  },
  {
    id: 'vault.r07.dead',
    file: attempt,
    find: 'if (!last || isInGrace(view.context, doubtedSince, clock.now())) return null;',
    replace: 'if (view) return null;',
  },
  {
    id: 'vault.r07.dead',
    file: refused,
    find: "if (isInDoubt) return condemn(sent, 'lost_rotation');",
    replace: "if (isInDoubt) return condemn(sent, 'rejected');",
  },
  {
    id: 'vault.r08.lost-answer',
    file: refused,
    find: 'if (!course.hasRetried && (!last || isForgiven)) {',
    replace: 'if (isForgiven && !isForgiven) {',
  },
  {
    id: 'vault.r08.lost-answer',
    file: refused,
    find: 'await giveBack(sent, stillDoubted(sent));',
    replace: 'await giveBack(sent);',
  },
  {
    id: 'vault.r09.frozen',
    file: savePair,
    find: 'const when = { generation, rtHash, tokenSeq: current.tokenSeq };',
    replace: 'const when = { generation, rtHash, tokenSeq: current.tokenSeq, claimSeq: consumed.claimSeq };',
  },
  {
    id: 'vault.r09.frozen',
    file: savePair,
    find: 'const when = { generation, rtHash, tokenSeq: current.tokenSeq };',
    replace: 'const when = { generation };',
  },
  {
    id: 'vault.r10.late-loser',
    file: refused,
    find: 'return store.replace(id, { generation, rtHash, claimSeq }, { ...settled, ...patch });',
    replace: 'return store.replace(id, { generation }, { ...settled, ...patch });',
  },
  {
    id: 'vault.r11.waiter',
    file: renewal,
    find: '    if (!turn) return lookOn(course);\n    try {\n      return await attempt(course);',
    replace: '    try {\n      return await attempt(course);',
  },
  {
    id: 'vault.r11.waiter',
    file: attempt,
    find: "if (!claimed) return { kind: 'busy' };",
    replace:
      'if (!claimed) return refresh({ course, view, claimed: { record, tookOver: false }, last: verdict.last, isInDoubt: false, doubtedSince: 0 }, claimedAt);',
  },
  {
    id: 'vault.r13.store',
    file: snapshots,
    find: 'return localClock.now() - knownAt < timings.outageMs ? entry.view : undefined;',
    replace: 'return knownAt > 0 ? entry.view : undefined;',
  },
  {
    id: 'vault.r13.store',
    file: renewal,
    find: "if (verdict?.kind === 'renew' && verdict.last) return { kind: 'token', token: verdict.last };",
    replace: '',
  },
  {
    id: 'vault.r14.persist',
    file: keepPair,
    find: 'if (localClock.now() + pause >= givesUpAt(begun)) break;',
    replace: 'if (givesUpAt(begun) > 0) break;',
  },
  {
    id: 'vault.r15.orphan',
    file: keepPair,
    find: 'unsaved.orphan = await orphanPairs.put(unsaved.consumed, unsaved.received);',
    replace: 'await Promise.resolve();',
  },
  {
    id: 'vault.r15.orphan',
    file: attempt,
    find: 'if (!orphan || !view.tokens) return null;',
    replace: 'if (orphan || !view.tokens) return null;',
  },
  {
    id: 'vault.r16.unrelated',
    file: savePair,
    find: 'const record = await store.replace(id, when, patch);',
    replace:
      'const record = (await store.findById(id))?.version === consumed.version ? await store.replace(id, when, patch) : null;',
  },
  {
    id: 'vault.r17.peer',
    file: refused,
    find: 'if (!condemned) return lookAgain;',
    replace: '',
  },
  {
    id: 'vault.r18.genuine',
    file: refused,
    find: "const patch = { status: 'rejected', reason, statusAt: clock.now() } as const;",
    replace: "const patch = { status: 'rejected', reason, statusAt: clock.now(), sealed: null } as const;",
  },
  {
    id: 'vault.r18.genuine',
    file: judge,
    find: "if (!hasRefresh || record.status === 'rejected' || fit === 'old_client') {",
    replace: "if (!hasRefresh || fit === 'old_client') {",
  },
  {
    id: 'vault.r19.omitted',
    file: pair,
    find: 'refreshToken: refreshToken === undefined ? before.refreshToken : new HiddenText(refreshToken),',
    replace: 'refreshToken: refreshToken === undefined ? undefined : new HiddenText(refreshToken),',
  },
  {
    id: 'vault.r19.omitted',
    file: pair,
    find: 'tokens.scope === undefined ? record.scopesGranted : scopeText(tokens.scope)',
    replace: "scopeText(tokens.scope ?? '')",
  },
  {
    id: 'vault.r20.lifetimes',
    file: pair,
    find: 'const lifetimeMs = expiresInS === null ? null : Math.max(0, Math.round(expiresInS * 1_000));',
    replace: 'const lifetimeMs = expiresInS ? Math.max(0, Math.round(expiresInS * 1_000)) : null;',
  },
  {
    id: 'vault.r20.lifetimes',
    file: heldToken,
    find: 'if (isNever || lifetimeMs === null || lifetimeMs < shortestEarlyMs) return Infinity;',
    replace: 'if (isNever || lifetimeMs === null || shortestEarlyMs < 0) return Infinity;',
  },
  {
    id: 'vault.r22.spread',
    file: heldToken,
    find: 'return issuedAt + lifetimeMs * (EARLIEST + SPREAD * placeOf(id));',
    replace: 'return issuedAt + lifetimeMs * (EARLIEST + SPREAD * placeOf(String(lifetimeMs)));',
  },
  {
    id: 'vault.r23.early',
    file: refused,
    find: "if (!course.isEarly || !last) return condemn(sent, 'rejected');",
    replace: "if (course.id) return condemn(sent, 'rejected');",
  },
  {
    id: 'vault.r23.early',
    file: refused,
    find: 'await giveBack(sent, { reason: EARLY_REFUSED });',
    replace: 'await giveBack(sent);',
  },
  {
    id: 'vault.r24.transient',
    file: refused,
    find: '          return unavailable(sent, answer.retryAfterMs);',
    replace: "          return condemn(sent, 'rejected');",
  },
  {
    id: 'vault.r24.transient',
    file: refused,
    find: "          told(sent, 'unintelligible');\n          return lastOr(last, setbacks.away(claimed.record));",
    replace: "          told(sent, 'unintelligible');\n          return condemn(sent, 'rejected');",
  },
  {
    id: 'vault.r25.logout',
    file: discards,
    find: 'if (isEnded) behind(revoke(record, context, tokens));',
    replace: 'if (isEnded) replaced(record, context, tokens);',
  },
  {
    id: 'vault.r25.logout',
    file: disconnect,
    find: '        generation: generation + 1,\n        tokenSeq: 0,',
    replace: '        generation,\n        tokenSeq: 0,',
  },
  {
    id: 'vault.r26.relogin',
    file: discards,
    find: "if (context?.profile.revokeOnReplace === 'per-token') behind",
    replace: 'if (context) behind',
  },
  {
    id: 'vault.r26.relogin',
    file: savePair,
    find: "if (found?.generation !== generation) return { kind: 'superseded', by: found };",
    replace: "if (!found) return { kind: 'superseded', by: found };",
  },
  {
    id: 'vault.r28.cancelled',
    file: createVault,
    find: 'return signal ? unlessAborted(work, signal) : work;',
    replace: 'return work;',
  },
  {
    id: 'vault.r29.resource',
    file: attempt,
    find: '...(resource !== null && { resource }),',
    replace: '...context.form,',
  },
  {
    id: 'vault.r30.moved',
    file: refused,
    find: 'const found = course.hasRediscovered ? null : await view.context?.rediscover().catch(() => null);',
    replace: 'const found = course.hasRediscovered ? null : undefined;',
  },
  {
    id: 'vault.v01.moved',
    file: 'packages/gateway/src/ports/credentials.ts',
    find: 'binding: [label, canonicalUrl, issuer, clientId, String(of.generation), String(of.tokenSeq)],',
    replace: 'binding: [label, canonicalUrl, issuer, clientId, String(of.generation)],',
  },
  {
    id: 'vault.v01.moved',
    file: 'packages/gateway/src/ports/credentials.ts',
    find: 'binding: [label, canonicalUrl, issuer, clientId, String(of.generation), String(of.tokenSeq)],',
    replace: 'binding: [label, issuer, clientId, String(of.generation), String(of.tokenSeq)],',
  },
  {
    id: 'vault.v02.definition',
    file: view,
    find: '    binding.canonicalUrl === record.canonicalUrl &&\n',
    replace: '',
  },
  {
    id: 'vault.v02.definition',
    file: view,
    find: "return client.source === 'dynamic' ? 'old_client' : 'unbound';",
    replace: "return client.source === 'dynamic' ? 'old_client' : 'fits';",
  },
  {
    id: 'vault.v02.definition',
    file: snapshots,
    find: "const isAboutAll = DEFINITIONS.has(topic) || (topic === 'credentials' && id === '*');",
    replace: "const isAboutAll = topic === 'credentials' && id === '*';",
  },
  {
    id: 'vault.v04.unreadable',
    file: openTokens,
    find: 'if (error instanceof SealError) return undefined;',
    replace: '',
  },
  {
    id: 'vault.v09.at-once',
    file: disconnect,
    find: '      const ended = await bury(key);\n      if (!ended) return { existed: false',
    replace:
      '      await new Promise((resolve) => setTimeout(resolve, 60));\n      const ended = await bury(key);\n      if (!ended) return { existed: false',
  },
  {
    id: 'vault.v10.exclusive',
    file: exclusive,
    find: '      if (lease) return lease;\n      if (localClock.now() >= endsAt) throw busy();',
    replace: '      if (lease || endsAt > 0) return lease;',
  },
  {
    id: 'vault.v10.exclusive',
    file: exclusive,
    find: '      lease?.extend(timings.leaseMs).catch(() => undefined);\n',
    replace: '',
  },
  {
    id: 'vault.v10.exclusive',
    file: exclusive,
    find: '      if (localClock.now() >= endsAt) throw busy();\n',
    replace: '',
  },
];
