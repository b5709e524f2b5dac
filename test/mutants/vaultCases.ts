import type { Mutant } from '../mutants.ts';

const credentials = 'packages/gateway/src/credentials';
const vaultFolder = `${credentials}/vault`;
const attempt = `${vaultFolder}/attempt.ts`;
const commit = `${vaultFolder}/commit.ts`;
const createVault = `${vaultFolder}/createVault.ts`;
const discards = `${vaultFolder}/discards.ts`;
const disconnect = `${vaultFolder}/disconnect.ts`;
const early = `${vaultFolder}/earlyRenewal.ts`;
const judge = `${vaultFolder}/judge.ts`;
const keepPair = `${vaultFolder}/keepPair.ts`;
const openTokens = `${vaultFolder}/openTokens.ts`;
const pair = `${vaultFolder}/pair.ts`;
const recovery = `${vaultFolder}/recovery.ts`;
const refused = `${vaultFolder}/refusedRefresh.ts`;
const renewal = `${vaultFolder}/renewal.ts`;
const requireSignIn = `${vaultFolder}/requireSignIn.ts`;
const savePair = `${vaultFolder}/savePair.ts`;
const setbacks = `${vaultFolder}/setbacks.ts`;
const snapshots = `${vaultFolder}/snapshots.ts`;
const timings = `${vaultFolder}/timings.ts`;
const turns = `${vaultFolder}/turns.ts`;
const usage = `${vaultFolder}/usageNotes.ts`;

export const vaultCases: readonly Mutant[] = [
  {
    id: 'vault.refresh.one',
    file: pair,
    find: '      ...settled,\n',
    replace: '',
  },
  {
    id: 'vault.refresh.again',
    file: pair,
    find: 'refreshToken: refreshToken === undefined ? before.refreshToken : new HiddenText(refreshToken),',
    replace: 'refreshToken: before.refreshToken,',
  },
  {
    id: 'vault.token.warm',
    file: snapshots,
    find: 'if (!entry || !isCurrent(changes, now, entry.readAt)) return undefined;',
    replace: 'if (!entry || isCurrent(changes, now, entry.readAt)) return undefined;',
  },
  {
    id: 'vault.token.external',
    file: snapshots,
    find: '      else known.delete(id);',
    replace: '',
  },
  {
    id: 'vault.token.absent',
    file: commit,
    find: '    await notices.publish(record.id);\n',
    replace: '',
  },
  {
    id: 'vault.token.no-refresh',
    file: judge,
    find: 'return last ? given(last) : needs(reason);',
    replace: 'return needs(reason);',
  },
  {
    id: 'vault.early.unused',
    file: early,
    find: 'if (clock.now() - due.usedAt <= timings.recentUseMs) {',
    replace: 'if (clock.now() - due.usedAt >= 0) {',
  },
  {
    id: 'vault.endpoints.sealed',
    file: attempt,
    find: 'endpoint: tokens.endpoints.token,',
    replace: "endpoint: claimed.record.endpoints?.token ?? '',",
  },
  {
    id: 'vault.keys.rotated',
    file: openTokens,
    find: "return createHmac('sha256', Buffer.from(hashKey.reveal(), 'base64url')).update(token).digest('base64url');",
    replace: "return createHmac('sha256', hashKey.toString()).update(token).digest('base64url');",
  },
  {
    id: 'vault.secrets.nowhere',
    file: refused,
    find: "    told(sent, 'in_doubt');",
    replace:
      "    told(sent, 'in_doubt');\n    log('in_doubt', { token: view.tokens?.refreshToken?.reveal() ?? '' });",
  },
  {
    id: 'vault.doubt.forgiven',
    file: attempt,
    find: 'if (!last || isInGrace(view.context, doubtedSince, clock.now())) return null;',
    replace: "if (!last) return lastOr(last, { kind: 'misconfigured', error: 'x' });",
  },
  {
    id: 'vault.doubt.live-in-grace',
    file: judge,
    find: "return isEarly && isInGrace(view.context, record.statusAt, now) ? { kind: 'renew', last } : given(last);",
    replace: 'return given(last);',
  },
  {
    id: 'vault.doubt.access-only',
    file: pair,
    find: '(isInDoubt && tokens.refreshToken === undefined)',
    replace: '(isInDoubt && tokens.refreshToken !== undefined)',
  },
  {
    id: 'vault.doubt.outage',
    file: refused,
    find: '    return lastOr(last, setbacks.away(claimed.record));\n  }\n\n  return {',
    replace: "    return condemn(sent, 'lost_rotation');\n  }\n\n  return {",
  },
  {
    id: 'vault.persist.answer-lost',
    file: savePair,
    find: 'if (found.atHash === patch.atHash && found.rtHash === patch.rtHash)',
    replace: 'if (found.atHash === null)',
  },
  {
    id: 'vault.orphan.same-process',
    file: keepPair,
    find: 'void tryOn(unsaved);',
    replace: 'void tryOn;',
  },
  {
    id: 'vault.orphan.unseen',
    file: attempt,
    find: "      return lastOr(last, { kind: 'unavailable', reason: 'store', retryAfterMs: timings.backoffMs });",
    replace: '      return null;',
  },
  {
    // What the grant before it left behind is taken for its own.
    id: 'vault.orphan.other-grant',
    file: `${vaultFolder}/orphanPairs.ts`,
    find: 'const pair = JSON.parse(keyring.open(sealed, contextOf(record))) as OrphanPair;\n        return pair.consumed === record.rtHash ? { ...pair, sealed } : undefined;',
    replace:
      'const before = { ...record, generation: record.generation - 1 };\n        const pair = JSON.parse(keyring.open(sealed, contextOf(before))) as OrphanPair;\n        return { ...pair, sealed };',
  },
  {
    // And stands in the way of every renewal.
    id: 'vault.orphan.other-grant',
    file: `${vaultFolder}/orphanPairs.ts`,
    find: '        if (error instanceof SealError) return undefined;\n',
    replace: '',
  },
  {
    id: 'vault.outage.doubted',
    file: snapshots,
    find: '      if (isAboutAll) wiped += 1;\n      else known.delete(id);',
    replace: '      if (isAboutAll) wiped += 1;',
  },
  {
    id: 'vault.outage.leases',
    file: turns,
    find: "      return 'unavailable';",
    replace: '      return null;',
  },
  {
    id: 'vault.backoff.grows',
    file: setbacks,
    find: 'const doubled = timings.backoffMs * 2 ** Math.min(times - 1, 16);',
    replace: 'const doubled = timings.backoffMs * Math.min(times, 1);',
  },
  {
    id: 'vault.backoff.asked',
    file: setbacks,
    find: 'const ms = Math.max(retryAfterMs, backoff);',
    replace: 'const ms = Math.min(retryAfterMs, backoff);',
  },
  {
    id: 'vault.client.refused',
    file: refused,
    find: "if (view.context?.client.source === 'dynamic') {",
    replace: "if (view.context) {\n      if (view) return condemn(sent, 'rejected');",
  },
  {
    id: 'vault.client.dynamic',
    file: refused,
    find: "if (await view.context.reregister().catch(() => false)) return condemn(sent, 'rejected');",
    replace: '',
  },
  {
    id: 'vault.user.needed',
    file: refused,
    find: "        case 'user_needed': {\n",
    replace: "        case 'user_needed': {\n          if (course.id) return condemn(sent, 'rejected');\n",
  },
  {
    id: 'vault.close.drains',
    file: createVault,
    find: 'const all = Promise.all([renewal.idle(), discards.idle(), usageNotes.idle()]);',
    replace: 'const all = Promise.all([discards.idle(), usageNotes.idle()]);',
  },
  {
    id: 'vault.close.drains',
    file: renewal,
    find: "if (isClosing()) return giveUp(course, 'closing');",
    replace: '',
  },
  {
    id: 'vault.close.bounded',
    file: createVault,
    find: '    await turns.endAll();\n',
    replace: '',
  },
  {
    id: 'vault.recover.joined',
    file: renewal,
    find: "if (outcome.kind !== 'token' || outcome.token.accessToken !== refused) return outcome;",
    replace: 'if (outcome) return outcome;',
  },
  {
    id: 'vault.recover.hopeless',
    file: recovery,
    find: '    if (holds(refusedAnew, name)) return hopeless;\n',
    replace: '',
  },
  {
    id: 'vault.recover.hopeless',
    file: recovery,
    find: "if (outcome.kind === 'token' && isNew(view)) remember",
    replace: "if (outcome.kind === 'token' && !isNew(view)) remember",
  },
  {
    id: 'vault.recover.reasons',
    file: judge,
    find: "needs(isRefused ? 'static_rejected' : 'expired_no_refresh')",
    replace: "needs('expired_no_refresh')",
  },
  {
    id: 'vault.recover.transient',
    file: setbacks,
    find: "const outcome: TokenOutcome = { kind: 'unavailable', reason: 'authorization_server', retryAfterMs: ms };",
    replace: "const outcome: TokenOutcome = { kind: 'needs_reauth', reason: 'rejected' };",
  },
  {
    id: 'vault.app.grant',
    file: `${vaultFolder}/appRenewal.ts`,
    find: "const isSame = record?.status === 'active' && fitOf(record, grant.context) === 'fits';",
    replace: "const isSame = record?.status === 'active' && fitOf(record, grant.context) !== 'old_client';",
  },
  {
    id: 'vault.disconnect.truth',
    file: discards,
    find: "return done ? 'yes' : 'failed';",
    replace: "return done ? 'yes' : 'yes';",
  },
  {
    id: 'vault.disconnect.truth',
    file: discards,
    find: "    if (!isTheirs) return 'failed';\n",
    replace: "    if (!context) return 'failed';\n",
  },
  {
    id: 'vault.end.nothing-left',
    file: disconnect,
    find: 'const existed = await store.remove(key);',
    replace: 'const existed = ended !== null;',
  },
  {
    id: 'vault.commit.first-wins',
    file: commit,
    find: '(await store.replace(id, { generation: baseGeneration }, patch)) !== null;',
    replace:
      '(await store.replace(id, { generation: (await store.findById(id))?.generation ?? 0 }, patch)) !== null;',
  },
  {
    id: 'vault.commit.retried',
    file: commit,
    find: 'if (localClock.now() + pause >= givesUpAt) throw error;',
    replace: 'if (givesUpAt > 0) throw error;',
  },
  {
    id: 'vault.require.marks',
    file: requireSignIn,
    find: '{ ...sealed, ...mark }',
    replace: 'mark',
  },
  {
    id: 'vault.timings.chain',
    file: timings,
    find: "    ['sendWithinMs + postMs < claimMs', sendWithinMs + postMs < claimMs],\n",
    replace: '',
  },
  {
    id: 'vault.timings.chain',
    file: timings,
    find: "    ['leaseMs < waitMs', leaseMs < waitMs],\n",
    replace: '',
  },
  {
    id: 'vault.usage.noted',
    file: usage,
    find: 'if (now - note.writtenAt < timings.usageMs) return;',
    replace: '',
  },
  {
    id: 'vault.model.nothing-lost',
    file: attempt,
    find: "if (!claimed) return { kind: 'busy' };",
    replace:
      'if (!claimed)\n      return refresh(\n        { course, view, claimed: { record, tookOver: false }, last: undefined, isInDoubt: false, doubtedSince: 0 },\n        claimedAt,\n      );',
  },
  {
    id: 'vault.model.doubt',
    file: refused,
    find: 'await giveBack(sent, stillDoubted(sent));',
    replace: 'await giveBack(sent);',
  },
];
