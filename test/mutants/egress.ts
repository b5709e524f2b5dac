import type { Mutant } from '../../tools/mutants/mutant.ts';

/** SSRF: the address that is checked is the address that is dialed. */
export const egress: readonly Mutant[] = [
  {
    id: 'allowed-domain-as-a-suffix',
    file: 'packages/egress/src/policy.ts',
    find: 'host.endsWith(`.${entry.host}`)',
    replace: 'host.endsWith(entry.host)',
    test: 'packages/egress/src/policy.test.ts',
  },
  {
    id: 'only-the-first-address-checked',
    file: 'packages/egress/src/targetCheck.ts',
    find: 'for (const address of addresses) {',
    replace: 'for (const address of addresses.slice(0, 1)) {',
    test: 'packages/egress/src/targetCheck.test.ts',
  },
  {
    id: 'dialed-address-is-resolved-again',
    file: 'packages/egress/src/guardedConnect.ts',
    find: 'return dialFirst(parts, addresses, { port, servername: host, tls, ca }, signal);',
    replace:
      'return dialFirst(parts, addresses.length ? await parts.resolve(host) : [], { port, servername: host, tls, ca }, signal);',
    test: 'packages/egress/src/targetCheck.test.ts',
  },
  {
    id: 'redirect-host-compared-before-normalization',
    file: 'packages/egress/src/target.ts',
    find: 'const { host, protocol } = parseTarget(url);',
    replace: 'const { hostname: host, protocol } = url;',
    test: 'packages/egress/src/redirect.test.ts',
  },
  {
    id: 'redirect-target-not-checked',
    file: 'packages/egress/src/guardedConnect.ts',
    find: 'const target = await checkTarget(url, { ...options, isProxied: proxy !== undefined });',
    replace:
      "const target = await checkTarget(url, { ...options, isProxied: proxy !== undefined }).catch((error: unknown) => { if (options.hasExemptions) throw error; return { ...parseTarget(url), addresses: ['93.184.216.34'] }; });",
    test: 'packages/egress/src/redirect.test.ts',
  },
  {
    id: 'credentials-follow-a-redirect',
    file: 'packages/egress/src/guardedRequest.ts',
    find: 'sentHeaders = [...filterSafeHeaders(headers), ...gatewayHeaders];',
    replace: 'sentHeaders = [...headers, ...gatewayHeaders];',
    test: 'packages/egress/src/redirect.test.ts',
  },
  {
    id: 'redirect-keeps-the-exemptions',
    file: 'packages/egress/src/guardedRequest.ts',
    find: 'scope = options.redirectScope;',
    replace: 'scope = options.scope;',
    test: 'packages/egress/src/redirect.test.ts',
  },
  {
    id: 'pool-shared-with-exempt-requests',
    file: 'packages/egress/src/createEgress.ts',
    find: 'JSON.stringify([audience, hasExemptions, proxy ?? null, caHash, connectMs])',
    replace: 'JSON.stringify([audience, proxy ?? null, caHash, connectMs])',
    test: 'packages/egress/src/redirect.test.ts',
  },
  {
    id: 'proxy-resolves-the-name-again',
    file: 'packages/egress/src/guardedConnect.ts',
    find: 'const [address = target.host] = target.addresses;',
    replace: 'const address = target.host;',
    test: 'packages/egress/src/proxy.test.ts',
  },
  {
    id: 'private-ca-added-to-the-public-ones',
    file: 'packages/egress/src/system.ts',
    find: 'target.ca === undefined ? trustOptions : { ca: [target.ca] }',
    replace: 'target.ca === undefined ? trustOptions : { ca: [...(trustOptions.ca ?? []), target.ca] }',
    test: 'packages/egress/src/certificateTrust.test.ts',
  },
];
