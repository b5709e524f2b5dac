import type { Mutant } from '../mutants.ts';

const api = 'api/src/facade';
const identity = 'packages/gateway/src/identity';

export const facadeIdJag: readonly Mutant[] = [
  {
    id: 'facade.id-jag.refused',
    file: `${identity}/facade/idJag.ts`,
    find: "if (header['typ'] !== 'oauth-id-jag+jwt') throw new TokenRefused('type');",
    replace: '',
  },
  {
    id: 'facade.id-jag.refused',
    file: `${identity}/facade/idJag.ts`,
    find: "if (claims['client_id'] !== clientId) throw new TokenRefused('client');",
    replace: '',
  },
  {
    id: 'facade.id-jag.refused',
    file: `${identity}/facade/idJag.ts`,
    find: '|| !isResource(resource)) throw',
    replace: ') throw',
  },
  {
    id: 'facade.id-jag.refused',
    file: `${identity}/facade/idJag.ts`,
    find: "if (asked !== undefined && asked !== resource) throw new TokenRefused('audience');",
    replace: '',
  },
  {
    id: 'facade.id-jag.refused',
    file: `${identity}/facade/idJag.ts`,
    find: "jti === '' || endsAt > clock.now() + LONGEST_MS",
    replace: "jti === ''",
  },
  {
    id: 'facade.id-jag.once',
    file: `${identity}/facade/idJag.ts`,
    find: "if (used) throw new TokenRefused('replayed');",
    replace: '',
  },
  {
    id: 'facade.id-jag.client',
    file: `${api}/idJagGrant.ts`,
    find: "if (client.clientAuthMethod === 'none') throw",
    replace: "if (client.clientAuthMethod === '') throw",
  },
  {
    id: 'facade.id-jag.narrow',
    file: `${identity}/facade/idJag.ts`,
    find: "if ('cnf' in claims) throw new TokenRefused('key_bound');",
    replace: '',
  },
  {
    id: 'facade.id-jag.narrow',
    file: `${identity}/facade/idJag.ts`,
    find: "if ([claims['aud']].flat().length !== 1) throw new TokenRefused('audience');",
    replace: '',
  },
  {
    id: 'facade.id-jag.narrow',
    file: `${identity}/facade/idJag.ts`,
    find: "if (!grants(claims['scope'], scope)) throw new TokenRefused('scope');",
    replace: '',
  },
  {
    id: 'facade.id-jag.role',
    file: `${identity}/facade/assertedIdentity.ts`,
    find: 'saysRole(claims, settings) ? verified : { ...verified, issuedAt: 0 }',
    replace: 'saysRole(claims, settings) ? verified : { ...verified }',
  },
  {
    id: 'facade.id-jag.role',
    file: `${identity}/facade/assertedIdentity.ts`,
    find: 'names.every((name)',
    replace: 'names.some((name)',
  },
  {
    id: 'facade.id-jag.tenant',
    file: `${identity}/facade/assertedIdentity.ts`,
    find: "if (tenantClaim !== null && claimAt(claims, tenantClaim) !== undefined) throw new TokenRefused('tenant');",
    replace: '',
  },
  {
    id: 'facade.id-jag.tenant',
    file: `${identity}/facade/assertedIdentity.ts`,
    find: 'groupsClaim: null },',
    replace: 'groupsClaim: settings.groupsClaim },',
  },
  {
    id: 'facade.id-jag.tenant',
    file: `${identity}/facade/assertedIdentity.ts`,
    find: 'tenant, roles: [], namesAdmin',
    replace: 'tenant, namesAdmin',
  },
  {
    id: 'facade.id-jag.tenant',
    file: `${identity}/facade/assertedIdentity.ts`,
    find: 'roles: [], namesAdmin: false, issuedAt: 0',
    replace: 'roles: [], issuedAt: 0',
  },
  {
    id: 'facade.id-jag.tenant',
    file: `${identity}/facade/assertedIdentity.ts`,
    find: "claims['tid'] === undefined ? null : allowedTenants",
    replace: "claims['tid'] === undefined ? allowedTenants : null",
  },
  {
    id: 'facade.id-jag.tenant',
    file: 'api/src/composeOpenId.ts',
    find: 'tenant: tenants[issuer] ?? DEFAULT_TENANT',
    replace: 'tenant: null',
  },
];
