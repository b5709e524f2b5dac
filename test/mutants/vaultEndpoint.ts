import type { Mutant } from '../mutants.ts';

const oauth = 'packages/gateway/src/credentials/oauth';
const endpoint = `${oauth}/tokenEndpoint.ts`;
const post = `${oauth}/tokenEndpointPost.ts`;
const reading = `${oauth}/tokenAnswerReading.ts`;
const proof = `${oauth}/oauthClientProof.ts`;
const revocation = `${oauth}/revocation.ts`;

export const vaultEndpoint: readonly Mutant[] = [
  {
    id: 'vault.endpoint.classes',
    file: reading,
    find: "if (status >= 500) return { kind: 'in_doubt', status };",
    replace: "if (status >= 500) return { kind: 'unavailable' };",
  },
  {
    id: 'vault.endpoint.classes',
    file: reading,
    find: "  return { kind: 'unintelligible', status };\n}\n\nfunction readTokens",
    replace: "  return { kind: 'rejected', error };\n}\n\nfunction readTokens",
  },
  {
    id: 'vault.endpoint.classes',
    file: reading,
    find: "if (body?.['error'] !== undefined) return ofError(body, status);",
    replace: "if (status !== 200 && body?.['error'] !== undefined) return ofError(body, status);",
  },
  {
    id: 'vault.endpoint.tokens',
    file: reading,
    find: "typeof value === 'string' && value.length <= LONGEST_TOKEN && TOKEN.test(value) ? value : undefined;",
    replace: 'value === undefined ? undefined : String(value as string);',
  },
  {
    id: 'vault.endpoint.sent',
    file: endpoint,
    find: "if (known?.requestSent !== false) return { kind: 'in_doubt' };",
    replace:
      "if (known?.requestSent === true) return { kind: 'in_doubt' };\n  if (!known) return { kind: 'unavailable' };",
  },
  {
    id: 'vault.endpoint.sent',
    file: endpoint,
    find: "  if (!maySend()) return { kind: 'unavailable' };\n",
    replace: '',
  },
  {
    id: 'vault.endpoint.bounds',
    file: post,
    find: "if (size > LARGEST_ANSWER_BYTES) throw new RangeError('The answer is too large');",
    replace: '',
  },
  {
    id: 'vault.endpoint.woken',
    file: post,
    find: 'clock.now() - sentAt < 1.5 * timeoutMs ? expire()',
    replace: 'clock.now() >= sentAt ? expire()',
  },
  {
    id: 'vault.endpoint.proof',
    file: proof,
    find: 'Buffer.from(`${formEncode(clientId)}:${formEncode(secret)}`)',
    replace: 'Buffer.from(`${clientId}:${secret}`)',
  },
  {
    id: 'vault.endpoint.proof',
    file: proof,
    find: '.setAudience(issuer)',
    replace: ".setAudience(issuer + '/token')",
  },
  {
    id: 'vault.endpoint.own-fields',
    file: endpoint,
    find: 'fields: { ...form, ...proven.fields },',
    replace: 'fields: { ...proven.fields, ...form },',
  },
  {
    id: 'vault.revoke.truth',
    file: revocation,
    find: 'return grant && access;',
    replace: 'return grant || access;',
  },
  {
    id: 'vault.revoke.bounded',
    file: revocation,
    find: 'const timeoutMs = endsAt - clock.now();',
    replace: 'const timeoutMs = endsAt;',
  },
];
