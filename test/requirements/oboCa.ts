import type { Requirement } from '../requirements.ts';

export const oboCa = {
  'egress.ca.trust': [
    'done',
    'A server with an authority of its own is reached with a certificate of that authority alone; public ones do not count.',
  ],
  'egress.ca.name': ['done', 'Its certificate must be for the name that was asked for.'],
  'egress.ca.pools': ['done', 'A connection that one authority vouched for carries no request for another.'],
  'egress.ca.proxy': [
    'done',
    'The authority holds within a proxy’s tunnel, has no say about the proxy, and a refusal names the server.',
  ],
  'egress.ca.socket': ['done', 'A socket for a websocket is held to the authority as a request is.'],
  'egress.ca.redirect': ['done', 'A redirect leads only to who has a certificate of the same authority.'],
  'obo.ca.server': [
    'done',
    'caFile of a server holds for every request and socket to it, and for no other server.',
  ],
  'obo.ca.reload': [
    'done',
    'A caFile that has changed counts from the next reload on; what the old one vouched for ends.',
  ],
  'obo.ca.provider': [
    'done',
    'caFile of an identity provider holds for what is sent to it; that of `login` for signing in.',
  ],
  'obo.ca.origins': [
    'done',
    'Addresses in identityProviders are open to the identity client alone, and follow a reload.',
  ],
  'obo.ca.file': [
    'done',
    'A caFile that cannot be read or holds no certificate is an error of the configuration, with its place.',
  ],
  'obo.ca.target': ['done', 'caFile of the file reaches the connection; no stored server has one.'],
} as const satisfies Record<string, Requirement>;
