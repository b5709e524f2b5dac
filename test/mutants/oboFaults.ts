import type { Mutant } from '../mutants.ts';

const gateway = 'packages/gateway/src';
const obo = `${gateway}/credentials/obo`;
const mutant = (id: string, file: string, find: string, replace: string): Mutant => ({
  id: `obo.${id}`,
  file: `${file}.ts`,
  find,
  replace,
});

export const oboFaults: readonly Mutant[] = [
  mutant(
    'faults.bounded',
    `${obo}/attempts`,
    'if (made.requests >= most || wait === undefined) throw fault;',
    'if (made.requests > most || wait === undefined) throw fault;',
  ),
  mutant(
    'faults.bounded',
    `${obo}/attempts`,
    'const wait = pauseAfter(fault, parts);',
    'const wait = undefined;',
  ),
  mutant(
    'faults.bounded',
    `${obo}/providers/tokenAnswer`,
    "if (typeof type !== 'string' || type.toLowerCase() !== (isBound ? 'dpop' : 'bearer'))",
    "if (typeof type !== 'string')",
  ),
  // Who is told to come back is told when.
  mutant(
    'faults.bounded',
    `${obo}/explainFault`,
    "(code === 'OBO_TEMPORARY' ? COME_BACK_MS : undefined)",
    'undefined',
  ),
  mutant('faults.refused', `${obo}/oboBearer`, 'const MOST_REQUESTS = 2;', 'const MOST_REQUESTS = 3;'),
  mutant(
    'faults.refused',
    `${gateway}/connections/gate`,
    'if (!subject || isRenewable(passage, failure)) return;',
    'if (!subject) return;',
  ),
  mutant('faults.refused', `${obo}/oboBearer`, '      await exchanger.evict(last.key, last.token);\n', ''),
  mutant(
    'faults.no-stale',
    `${gateway}/toolcall/recoverFromRefusal`,
    'if (!bearer || !(await unlessAborted(bearer.renew(refused.detail.challenge), signal))) throw refused;',
    'await bearer?.renew(refused.detail.challenge).catch(() => false);',
  ),
  mutant('faults.no-stale', `${obo}/oboBearer`, '      await exchanger.evict(last.key, last.token);\n', ''),
  mutant(
    'faults.no-stale',
    `${obo}/memoryTier`,
    'if (entry.kept.until <= clock.now()) {',
    'if (entry.kept.until <= 0) {',
  ),
  mutant(
    'faults.told',
    `${gateway}/toolcall/signInNeeded`,
    'return new GatewayError(code, { challenge: { claims }, cause: error });',
    'return new GatewayError(code, { cause: error });',
  ),
  mutant(
    'faults.told',
    `${obo}/recordExchange`,
    'note(job.about, { code, providerCode, hint,',
    'note(job.about, { code,',
  ),
  mutant(
    'faults.told',
    `${obo}/faultMemory`,
    "if (code === 'OBO_REJECTED') return limits.rejectedMs;",
    "if (code === 'OBO_REJECTED') return 0;",
  ),
  // What is for the operator reaches who calls.
  mutant(
    'faults.told',
    `${obo}/explainFault`,
    'return new GatewayError(code, { ...(retryAfterMs',
    'return new GatewayError(code, { detail: detail.hint ?? code, ...(retryAfterMs',
  ),
  mutant(
    'faults.claims',
    `${gateway}/toolcall/signInNeeded`,
    'challenge: { claims }, cause',
    'challenge: {}, cause',
  ),
  mutant('faults.claims', `${obo}/oboBearer`, 'if (claims !== undefined) await ask(claims);', ''),
  mutant(
    'recovery.once',
    `${gateway}/toolcall/recoverFromRefusal`,
    "error.reason === 'unauthorized' && bearerOf(ready) !== undefined",
    "error.reason === 'forbidden' && bearerOf(ready) !== undefined",
  ),
  mutant(
    'recovery.once',
    `${gateway}/toolcall/loadTools`,
    'if (isRefusedToken(error, ready))\n      return afterRefusal(error, ready, inbound.signal, { again, anew: obtain });',
    '',
  ),
  mutant(
    'recovery.final',
    `${gateway}/toolcall/recoverFromRefusal`,
    'if (last && isRefusedToken(error, next)) await unlessAborted(last.renew(error.detail.challenge), signal);',
    '',
  ),
  mutant(
    'recovery.together',
    `${gateway}/connections/gate`,
    'if (!subject || isRenewable(passage, failure)) return;',
    'if (!subject) return;',
  ),
  mutant(
    'recovery.session',
    `${gateway}/upstream/http/handshake`,
    '    DELETE_MS,\n    bearer,\n',
    '    DELETE_MS,\n    undefined,\n',
  ),
  mutant(
    'sign-in.whoami',
    `${obo}/subjectSource`,
    "if (by.via !== 'bearer' || kind !== 'access_token') {",
    "if (by.via === 'api_key') {",
  ),
  mutant(
    'sign-in.claims',
    `${obo}/oboBearer`,
    'if (text !== undefined) await parts.pendingClaims.put(owner, text).catch(() => undefined);',
    'void text;',
  ),
  mutant('sign-in.claims', 'api/src/oauth/openid', 'if (hasClaims) await dropClaims(user);', ''),
  mutant(
    'sign-in.logout',
    `${obo}/subjectSource`,
    "only === null ? via === 'openid' : hash === only",
    "via === 'openid' && hash !== ''",
  ),
  mutant(
    'sign-in.logout',
    `${gateway}/identity/sessions`,
    'const isEnded = await sessions.remove(hash);',
    'const isEnded = true;',
  ),
  mutant(
    'sign-in.replicas',
    `${obo}/subjectSource`,
    "if (topic !== 'sessions' && topic !== 'users') return;",
    "if (topic !== 'sessions' || id !== '') return;",
  ),
  mutant(
    'sign-in.key',
    `${obo}/subjectSource`,
    "if (by.via === 'api_key' && !by.scopes.includes('obo')) {",
    "if (by.via === 'api_key' && !by.scopes.includes('mcp')) {",
  ),
  mutant(
    'sign-in.nobody',
    `${gateway}/toolcall/signInNeeded`,
    "own?.detail.via === 'bearer' ? ownTokenRefused(own) : undefined",
    'own && ownTokenRefused(own)',
  ),
  mutant('sign-in.nobody', `${gateway}/toolcall/callTool`, 'if (needed.refusal) throw needed.refusal;', ''),
  mutant(
    'sign-in.ended',
    `${obo}/subjectSource`,
    "    if (!('kind' in held)) return",
    "    if (!('kind' in held) && held.until < 0) return",
  ),
  mutant(
    'sign-in.no-fallback',
    `${gateway}/credentials/credentials`,
    "if (!wanted || filled.target.type === 'stdio') return filled;",
    'return filled;',
  ),
  mutant(
    'sign-in.reinit',
    `${gateway}/reinit/reinitialize`,
    'const tools = hasNothing ? await bareTools(parts, server, inbound) : null;',
    'const tools = await bareTools(parts, server, inbound);',
  ),
  mutant(
    'sign-in.reinit',
    `${gateway}/reinit/reinitialize`,
    'const tools = hasNothing ? await bareTools(parts, server, inbound) : null;',
    'const tools = null;',
  ),
  mutant(
    'graph.header',
    `${gateway}/credentials/credentials`,
    'usesGraph(server.settings)\n        ?',
    'usesGraph(server.settings) && of === null\n        ?',
  ),
];
