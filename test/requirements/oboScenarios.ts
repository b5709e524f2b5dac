import type { Requirement } from '../requirements.ts';

export const oboScenarios = {
  'obo.concurrent-calls.one-exchange': [
    'done',
    'Fifty concurrent cold calls of one user cost one token request, whichever way tokens are exchanged.',
  ],
  'obo.users.own-token': ['done', 'Each of many users costs one token request and is seen as themselves.'],
  'obo.shutdown.sessions-end': ['done', 'A gateway that stops ends sessions with their users’ tokens.'],
  'obo.replicas.one-exchange': ['done', 'Three replicas with fifty calls each cost one token request.'],
} as const satisfies Record<string, Requirement>;
