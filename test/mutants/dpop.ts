import type { Mutant } from '../mutants.ts';

const credentials = 'packages/gateway/src/credentials';
const headers = 'packages/gateway/src/upstream/bearerHeaders.ts';

export const dpop: readonly Mutant[] = [
  {
    id: 'dpop.proof',
    file: `${credentials}/dpop/dpop.ts`,
    find: 'jti: random.id(),',
    replace: "jti: 'same',",
  },
  {
    id: 'dpop.proof',
    file: `${credentials}/dpop/dpop.ts`,
    find: '...(accessToken !== undefined && { ath: hashOf(accessToken) }),',
    replace: '',
  },
  {
    id: 'dpop.proof',
    file: `${credentials}/dpop/dpop.ts`,
    find: 'return origin + pathname;',
    replace: 'return url;',
  },
  {
    id: 'dpop.nonce',
    file: `${credentials}/dpop/dpop.ts`,
    find: 'const nonce = nonces.get(originOf(url));',
    replace: "const nonce = nonces.get(originOf(url)) ?? nonces.get([...nonces.keys()].at(-1) ?? '');",
  },
  {
    id: 'dpop.nonce',
    file: `${credentials}/dpop/dpop.ts`,
    find: '        return nonceIn(sent) !== nonce;',
    replace:
      '        return nonceIn(proverOf({ privateKey, jwk, thumbprint }).proof("POST", url)) !== nonce;',
  },
  {
    id: 'dpop.nonce',
    file: `${credentials}/oauth/tokenEndpoint.ts`,
    find: '  prover.heard(endpoint, second.answer',
    replace:
      "  if (prover.heard(endpoint, second.answer.header('dpop-nonce'), second.proof)) await send();\n  prover.heard(endpoint, second.answer",
  },
  {
    id: 'dpop.nonce',
    file: headers,
    find: "isAnother && status === 401 && header('www-authenticate')?.includes('use_dpop_nonce') === true",
    replace: 'isAnother && status === 401',
  },
  {
    id: 'dpop.resource',
    file: headers,
    find: 'owning(headers, AUTHORIZATION, `DPoP ${token.text}`)',
    replace: 'owning(headers, AUTHORIZATION, `Bearer ${token.text}`)',
  },
  {
    id: 'dpop.key',
    file: `${credentials}/oauth/flows/openFlow.ts`,
    find: 'dpopKey: newDpopKey(random).reveal()',
    replace: "dpopKey: dpopKeyOf('one for all').reveal()",
  },
  {
    id: 'dpop.sign-in',
    file: `${credentials}/vault/heldToken.ts`,
    find: "prover: tokens.tokenType === 'dpop' ? tokens.prover : undefined,",
    replace: 'prover: undefined,',
  },
  {
    id: 'dpop.renewal',
    file: `${credentials}/vault/attempt.ts`,
    find: '      prover: tokens.prover,\n',
    replace: '',
  },
  {
    id: 'dpop.require',
    file: `${credentials}/oauth/flows/finishFlow.ts`,
    find: "if (!isWantedKind(tokens, prover, target)) return 'token_exchange_failed';",
    replace: '',
  },
  {
    id: 'dpop.asked',
    file: `${credentials}/oauth/discovery/bindsTokens.ts`,
    find: "if (mode === 'off') return false;",
    replace: '',
  },
  {
    id: 'dpop.exchange',
    file: `${credentials}/obo/providers/tokenAnswer.ts`,
    find: "type.toLowerCase() !== (isBound ? 'dpop' : 'bearer')",
    replace: "!['dpop', 'bearer'].includes(type.toLowerCase())",
  },
  {
    id: 'dpop.exchange-key',
    file: `${credentials}/obo/boundKeys.ts`,
    find: 'JSON.stringify([owner, server.tenant, server.id, provider])',
    replace: 'JSON.stringify([server.tenant, server.id, provider])',
  },
  {
    id: 'dpop.exchange-key',
    file: `${credentials}/obo/exchangeKeys.ts`,
    find: '    keyThumbprint,\n  });',
    replace: '    keyThumbprint: undefined,\n  });',
  },
  {
    id: 'dpop.exchange.resource',
    file: headers,
    find: 'owning(headers, AUTHORIZATION, `DPoP ${token.text}`)',
    replace: 'owning(headers, AUTHORIZATION, `Bearer ${token.text}`)',
  },
  {
    id: 'dpop.exchange.resource',
    file: `${credentials}/obo/boundKeys.ts`,
    find: 'JSON.stringify([owner, server.tenant, server.id, provider])',
    replace: 'JSON.stringify([server.tenant, server.id, provider])',
  },
];
