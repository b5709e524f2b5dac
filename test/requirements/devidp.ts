import type { Requirement } from '../requirements.ts';

export const devidp = {
  'devidp.login': ['done', 'A test user signs in by choosing a name, and the client gets tokens.'],
  'devidp.tokens': [
    'done',
    'Access tokens are JWTs for the gateway; tests can have wrong ones of every kind.',
  ],
  'devidp.app-only': ['done', 'A client without a user gets a token that says so.'],
  'devidp.rotation': ['done', 'Signing keys rotate on demand, and nobody has to sign in again.'],
  'devidp.development-only': [
    'done',
    'The development identity provider refuses production and answers this machine only.',
  ],
} as const satisfies Record<string, Requirement>;
