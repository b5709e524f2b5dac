import type { Requirement } from '../requirements.ts';

/** Who is let in, over real HTTP and with a real identity provider. */
export const scenarios = {
  'scenario.oidc.login': [
    'done',
    'A browser signs in at the provider, as an account of its own with the role of the claim.',
  ],
  'scenario.oidc.forged': ['done', 'An answer that does not belong to this login starts no session.'],
  'scenario.oidc.sealed': ['done', 'The tokens of a login are in the store only sealed, and nowhere else.'],
  'scenario.oidc.logout': ['done', 'A sign-out ends the session and takes its tokens along.'],
  'scenario.oidc.role': ['done', 'A role that an administrator gave outlasts other claims.'],
  'scenario.oidc.disabled': ['done', 'A disabled user is out at once, and neither login nor token helps.'],
  'scenario.oidc.groups': ['done', 'A server for a group is seen by who has it in their token.'],
  'scenario.oidc.issuer-address': ['done', 'The issuer’s address is open to sign-ins and to no server.'],
  'scenario.bearer.accepted': ['done', 'A good access token is its user, on every door.'],
  'scenario.bearer.refused': ['done', 'Whatever is wrong with a token, the answer is the same.'],
  'scenario.bearer.alone': ['done', 'Who shows a token beside a cookie is judged by the token alone.'],
  'scenario.bearer.tenants': ['done', 'Tenants by claim do not see each other’s people.'],
  'scenario.bearer.service': ['done', 'A program calls what is shared, and is nobody: no user, no ADMIN.'],
  'scenario.bearer.rotation': ['done', 'A key rotation needs no restart, and dropped keys prove nothing.'],
  'scenario.bearer.not-forwarded': ['done', 'No server is ever shown the token of who calls it.'],
  'scenario.api-key.use': ['done', 'A key is shown once and calls in the name of its owner.'],
  'scenario.api-key.scope': ['done', 'A key does what its scopes say, and never more than its owner may.'],
  'scenario.api-key.ended': ['done', 'A deleted key and those of a disabled owner end at once.'],
  'scenario.api-key.secret': ['done', 'A key is in no upstream request, log, answer or database.'],
  'scenario.api-key.csrf': ['done', 'Who shows a token needs no CSRF header; who has a cookie does.'],
  'scenario.api-key.guessing': ['done', 'Guessing is stopped by address, and a known key still works.'],
  'pages.sign-in.openid': ['done', 'The sign-in page leads to the provider and says what went wrong there.'],
} as const satisfies Record<string, Requirement>;
