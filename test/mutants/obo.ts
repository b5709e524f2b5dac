import type { Mutant } from '../mutants.ts';

const credentials = 'packages/gateway/src/credentials';
const bearer = `${credentials}/obo/oboBearer.ts`;
const toolcall = 'packages/gateway/src/toolcall';

export const obo: readonly Mutant[] = [
  {
    id: 'kernel.hidden-text',
    file: 'packages/kernel/src/hiddenText.ts',
    find: "  toJSON(): string {\n    return '[hidden]';",
    replace: '  toJSON(): string {\n    return this.#text;',
  },
  {
    id: 'kernel.hidden-text',
    file: 'packages/kernel/src/hiddenText.ts',
    find: '  readonly #text: string;\n  constructor(text: string) {\n    this.#text = text;',
    replace:
      '  readonly #text: string;\n  readonly text: string;\n  constructor(text: string) {\n    this.#text = this.text = text;',
  },
  {
    id: 'credentials.obo.bearer',
    file: `${credentials}/credentials.ts`,
    find: 'const bearer = obo.bearerFor(server, principal, wanted, purse);',
    replace: 'const bearer = obo ? undefined : undefined;',
  },
  {
    id: 'credentials.obo.graph',
    file: `${credentials}/credentials.ts`,
    find: 'target: fill(of, await graphToken(server, principal, purse)) }',
    replace: 'target: fill(of, String(graphToken.length)) }',
  },
  {
    id: 'obo.token.trusted',
    file: bearer,
    find: '    if (trust.isTrusted(requireCurrent()) !== true) return undefined;\n',
    replace: '    requireCurrent();\n',
  },
  {
    id: 'obo.token.trusted',
    file: bearer,
    find: '      await requireTrust();\n      subject =',
    replace: '      requireCurrent();\n      subject =',
  },
  {
    id: 'obo.token.trusted',
    file: bearer,
    find: '      await requireTrust();\n      await ownToken();\n',
    replace: '      requireCurrent();\n      await ownToken();\n',
  },
  {
    id: 'obo.token.target',
    file: bearer,
    find: 'if (!now || targets.problemOf(now)) throw',
    replace: 'if (!now) throw',
  },
  {
    id: 'obo.token.target',
    file: bearer,
    find: 'parts.current(server, principal.tenant);',
    replace: 'parts.current(server, principal.tenant) ?? server;',
  },
  {
    id: 'obo.token.subject',
    file: `${credentials}/obo/exchangeKeys.ts`,
    find: '    a.principal.role === b.principal.role &&\n',
    replace: '',
  },
  {
    id: 'obo.token.subject',
    file: `${credentials}/obo/exchangeKeys.ts`,
    find: '    a.principal.userId === b.principal.userId &&\n',
    replace: '',
  },
  {
    id: 'obo.token.subject',
    file: `${credentials}/obo/exchangeKeys.ts`,
    find: ' &&\n    a.principal.tenant === b.principal.tenant',
    replace: '',
  },
  {
    id: 'obo.token.subject',
    file: `${credentials}/obo/explainFault.ts`,
    find: "error.reason === 'absent' ? 'OBO_SUBJECT_TOKEN_MISSING'",
    replace: "error.reason !== 'absent' ? 'OBO_SUBJECT_TOKEN_MISSING'",
  },
  {
    id: 'obo.token.warm',
    file: bearer,
    find: '        const kept = atHand();\n',
    replace: '        const kept = undefined;\n',
  },
  {
    id: 'obo.token.budget',
    file: bearer,
    find: '      purse.requests += exchanged.requests;\n',
    replace: '',
  },
  {
    id: 'obo.token.budget',
    file: bearer,
    find: '      if (purse.requests >= MOST_REQUESTS) return false;\n',
    replace: '',
  },
  {
    id: 'obo.token.renew',
    file: bearer,
    find: '      await exchanger.evict(last.key, last.token);\n',
    replace: '',
  },
  {
    id: 'obo.token.renew',
    file: bearer,
    find: "if (other === last.token) await exchange('force');",
    replace: '',
  },
  {
    id: 'obo.token.renew',
    file: bearer,
    find: '        purse.requests = MOST_REQUESTS;\n',
    replace: '',
  },
  {
    id: 'obo.token.subject',
    file: bearer,
    find: '      await ownToken();\n      presented',
    replace: '      presented',
  },
  {
    id: 'obo.token.subject',
    file: `${credentials}/obo/exchangeKeys.ts`,
    find: 'last?.identity === identity && isSame(last, wish)',
    replace: 'last && isSame(last, wish)',
  },
  {
    id: 'obo.token.claims',
    file: bearer,
    find: '        await keepClaims(claims);\n        const code',
    replace: '        const code',
  },
  {
    id: 'obo.token.claims',
    file: bearer,
    find: '      if (claims !== undefined) await ask(claims);\n',
    replace: '',
  },
  {
    id: 'obo.token.claims',
    file: `${credentials}/obo/claimsChallenge.ts`,
    find: "challenge?.error !== 'insufficient_claims' || ",
    replace: '!challenge || ',
  },
  {
    id: 'obo.token.claims',
    file: `${credentials}/obo/claimsChallenge.ts`,
    find: 'return isObject(wanted) ? written({ access_token: wanted }, MOST_BYTES_OF_SERVER) : undefined;',
    replace: 'return written({ access_token: wanted }, MOST_BYTES_OF_SERVER);',
  },
  {
    id: 'obo.token.told',
    file: `${credentials}/obo/explainFault.ts`,
    find: "if (code === 'OBO_REJECTED') return",
    replace: "if (code === 'OBO_TEMPORARY') return",
  },
  {
    id: 'obo.audit.exchange',
    file: `${credentials}/obo/recordExchange.ts`,
    find: 'note(job.about, { code, providerCode, hint, durationMs, count: requests });',
    replace: 'note(job.about, { code, durationMs, count: requests });',
  },
  {
    id: 'obo.audit.exchange',
    file: `${credentials}/obo/recordExchange.ts`,
    find: " || code === 'OBO_REJECTED' || code === 'OBO_CONSENT_REQUIRED') return;",
    replace: ') return;',
  },
  {
    id: 'obo.evict.server',
    file: `${credentials}/obo/forgetOutdated.ts`,
    find: 'server?.revision === revision && ',
    replace: 'server !== undefined && ',
  },
  {
    id: 'obo.evict.server',
    file: `${credentials}/obo/forgetOutdated.ts`,
    find: 'usesObo(settings) || usesGraph(settings)',
    replace: 'usesObo(settings)',
  },
  {
    id: 'toolcall.obo.refused-once',
    file: `${toolcall}/recoverFromRefusal.ts`,
    find: "error.reason === 'unauthorized' && bearerOf(ready)",
    replace: "error.outcome === 'refused' && bearerOf(ready)",
  },
  {
    id: 'toolcall.obo.refused-once',
    file: `${toolcall}/recoverFromRefusal.ts`,
    find: '    if (last && isRefusedToken(error, next)) await unlessAborted(last.renew(error.detail.challenge), signal);\n',
    replace: '',
  },
  {
    id: 'toolcall.obo.refused-once',
    file: `${toolcall}/loadTools.ts`,
    find: '    if (isRefusedToken(error, ready))\n      return afterRefusal(error, ready, inbound.signal, { again, anew: obtain });\n',
    replace: '',
  },
  {
    id: 'obo.audit.exchange',
    file: `${credentials}/obo/recordExchange.ts`,
    find: "      if (from !== 'exchanged') return;\n",
    replace: '',
  },
  {
    id: 'toolcall.obo.nothing-else',
    file: `${toolcall}/askServer.ts`,
    find: '  if (token instanceof Promise) await unlessAborted(token, inbound.signal);\n',
    replace: '  if (token instanceof Promise) token.catch(() => undefined);\n',
  },
  {
    id: 'toolcall.obo.nothing-else',
    file: `${toolcall}/maskPresented.ts`,
    find: 'bearerOf(ready)?.shown() ?? []',
    replace: '[]',
  },
  {
    id: 'toolcall.obo.sign-in',
    file: `${toolcall}/callTool.ts`,
    find: '    if (refused && isBrought(error)) throw refused;\n',
    replace: '',
  },
  {
    id: 'toolcall.obo.sign-in',
    file: `${toolcall}/readServer.ts`,
    find: '  if (refused) return refused;\n',
    replace: '',
  },
  {
    id: 'reinit.obo.bare',
    file: 'packages/gateway/src/reinit/reinitialize.ts',
    find: 'hasNothing ? await bareTools(parts, server, inbound) : null',
    replace: 'await bareTools(parts, server, inbound)',
  },
];
