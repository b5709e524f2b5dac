import type { Mutant } from '../mutants.ts';

const obo = 'packages/gateway/src/credentials/obo';
const answer = `${obo}/providers/idJagAnswer.ts`;
const provider = `${obo}/providers/idJagProvider.ts`;

export const idJag: readonly Mutant[] = [
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
    find: "if (by.via !== 'bearer' || kind === 'id_token') {",
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
