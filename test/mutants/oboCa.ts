import type { Mutant } from '../mutants.ts';

const egress = 'packages/egress/src';
const network = 'api/src/network.ts';
const authorities = 'api/src/authorities.ts';
const configuration = 'api/src/configuration.ts';

export const oboCa: readonly Mutant[] = [
  {
    id: 'egress.ca.trust',
    file: `${egress}/system.ts`,
    find: 'target.ca === undefined ? trust : { ca: [target.ca] }',
    replace: 'target.ca === undefined ? trust : { ca: [...(trust.ca ?? []), target.ca] }',
  },
  {
    id: 'egress.ca.trust',
    file: `${egress}/system.ts`,
    find: 'target.ca === undefined ? trust : { ca: [target.ca] }',
    replace: 'target.ca ? { ca: [target.ca] } : trust',
  },
  {
    id: 'egress.ca.trust',
    file: `${egress}/connect.ts`,
    find: '{ port, servername: host, tls, ca }',
    replace: '{ port, servername: host, tls }',
  },
  {
    id: 'egress.ca.trust',
    file: `${egress}/errors.ts`,
    find: '/^(?:UNABLE_TO_|',
    replace: '/^(?:',
  },
  {
    id: 'egress.ca.name',
    file: `${egress}/system.ts`,
    find: "        ALPNProtocols: ['http/1.1'],\n",
    replace: "        ALPNProtocols: ['http/1.1'],\n        checkServerIdentity: () => undefined,\n",
  },
  {
    id: 'egress.ca.pools',
    file: `${egress}/createEgress.ts`,
    find: 'JSON.stringify([audience, exemptions, proxy ?? null, trusted, connectMs])',
    replace: 'JSON.stringify([audience, exemptions, proxy ?? null, connectMs])',
  },
  {
    id: 'egress.ca.pools',
    file: `${egress}/createEgress.ts`,
    find: "createHash('sha256').update(ca).digest('base64url')",
    replace: "'own'",
  },
  {
    id: 'egress.ca.proxy',
    file: `${egress}/connect.ts`,
    find: '{ address, port, servername, tls: true, ca, over: socket }',
    replace: '{ address, port, servername, tls: true, over: socket }',
  },
  {
    id: 'egress.ca.proxy',
    file: `${egress}/connect.ts`,
    find: "servername: proxy.host, tls: proxy.kind === 'https' }",
    replace: "servername: proxy.host, tls: proxy.kind === 'https', ca }",
  },
  {
    id: 'egress.ca.proxy',
    file: `${egress}/connect.ts`,
    find: '      if (error instanceof EgressError) throw error;\n',
    replace: '',
  },
  {
    id: 'egress.ca.socket',
    file: `${egress}/createEgress.ts`,
    find: 'connect(readUrl(url), scopeOf(options, true), signal)',
    replace: 'connect(readUrl(url), { ...scopeOf(options, true), ca: undefined }, signal)',
  },
  {
    id: 'egress.ca.redirect',
    file: `${egress}/createEgress.ts`,
    find: 'redirectScope: scopeOf(options, false),',
    replace: 'redirectScope: scopeOf({ ...options, ca: undefined }, false),',
  },
  {
    id: 'obo.ca.server',
    file: network,
    find: 'rules.authorities.get(caFile) ?? NOBODY',
    replace: 'rules.authorities.get(caFile)',
  },
  {
    id: 'obo.ca.server',
    file: network,
    find: 'JSON.stringify([audience, proxy, caFile, options.timeouts])',
    replace: 'JSON.stringify([audience, proxy, caFile === null, options.timeouts])',
  },
  {
    id: 'obo.ca.server',
    file: network,
    find: '      ca: authorityOf(caFile),\n',
    replace: '',
  },
  {
    id: 'obo.ca.reload',
    file: network,
    find: 'JSON.stringify([egress, [...authorities].sort(), loginCaFile, documentCaFile])',
    replace: 'JSON.stringify([egress, [...authorities.keys()].sort(), loginCaFile])',
  },
  {
    id: 'obo.ca.reload',
    file: network,
    find: 'JSON.stringify([egress, [...authorities].sort(), loginCaFile, documentCaFile])',
    replace: 'JSON.stringify([egress, [...authorities], loginCaFile])',
  },
  {
    id: 'obo.ca.reload',
    file: network,
    find: 'if (authorityOf(caFile) !== ca) {',
    replace: 'if (authorityOf(caFile) === null) {',
  },
  {
    id: 'obo.ca.provider',
    file: network,
    find: 'JSON.stringify([egress, [...authorities].sort(), loginCaFile, documentCaFile])',
    replace: 'JSON.stringify([[], [...authorities].sort()])',
  },
  {
    id: 'obo.ca.provider',
    file: network,
    find: '{ ...identityOptions, ca: authorityOf(caFile()) }',
    replace: '{ ...identityOptions, ca: authorityOf(rules.loginCaFile) }',
  },
  {
    id: 'obo.ca.provider',
    file: network,
    find: 'if (known?.egress !== egress) {',
    replace: 'if (!known) {',
  },
  {
    id: 'obo.ca.provider',
    file: network,
    find: "is an attack.\n  redirects: 'refuse',\n",
    replace: 'is an attack.\n',
  },
  {
    id: 'obo.ca.origins',
    file: network,
    find: '[...issuers, ...identityAddresses(settings).map(({ url }) => url)]',
    replace: '[...issuers]',
  },
  {
    id: 'obo.ca.origins',
    file: network,
    find: '[...issuers, ...identityAddresses(settings).map(({ url }) => url)]',
    replace: 'identityAddresses(settings).map(({ url }) => url)',
  },
  {
    id: 'obo.ca.origins',
    file: 'api/src/identityAddresses.ts',
    find: 'said(path, { issuer, authority, tokenEndpoint })',
    replace: 'said(path, { issuer, tokenEndpoint })',
  },
  {
    id: 'obo.ca.origins',
    file: configuration,
    find: ' ...providerProblems(settings),',
    replace: '',
  },
  {
    id: 'obo.ca.file',
    file: configuration,
    find: '    ...readAuthorities(settings).problems,\n',
    replace: '',
  },
  {
    id: 'obo.ca.file',
    file: authorities,
    find: 'if (!found.every(isCertificate)) {',
    replace: 'if (!found.some(isCertificate)) {',
  },
  {
    id: 'obo.ca.file',
    file: authorities,
    find: "return { pem: found.join('\\n') };",
    replace: 'return { pem: text };',
  },
  {
    id: 'obo.ca.target',
    file: 'packages/gateway/src/registry/renderTarget.ts',
    find: '    caFile: settings.caFile,\n',
    replace: '',
  },
  {
    id: 'obo.ca.target',
    file: 'packages/gateway/src/registry/override.ts',
    find: "const operatorKeys = ['proxy', 'caFile', 'relay'];",
    replace: "const operatorKeys = ['proxy', 'relay'];",
  },
  {
    id: 'obo.ca.target',
    file: 'packages/gateway/src/registry/storedDefinition.ts',
    find: "  'obo',\n]);",
    replace: "  'obo',\n  'caFile',\n]);",
  },
];
