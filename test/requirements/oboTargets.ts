import type { Requirement } from '../requirements.ts';

export const oboTargets = {
  'obo.config.authority': ['done', 'A provider says where it is, or is where people sign in.'],
  'obo.config.credential': [
    'done',
    'A provider’s client proves itself in exactly one way, or as the login does.',
  ],
  'obo.config.elsewhere': [
    'done',
    'Elsewhere than where people sign in, a provider has a client of its own: the login’s is not told there.',
  ],
  'obo.config.fields': [
    'done',
    'A field that a provider would ignore, or that the exchange itself fills in, is refused.',
  ],
  'obo.config.https': [
    'done',
    'Providers are spoken to over https; plain http is accepted on loopback only.',
  ],
  'obo.config.filled': ['done', 'Variables are filled in wherever a provider has a text.'],
  'obo.config.login': [
    'done',
    'A server that names no provider is held to the entry `login`; without any it waits, with a warning.',
  ],
  'obo.config.entra': ['done', 'At Entra a server names neither a grant nor an audience.'],
  'obo.config.tokens': [
    'done',
    'A token of the user stands in headers, never in an address or a command line.',
  ],
  'obo.targets.match': [
    'done',
    'With targets, every OBO server asks for scopes of one entry at an origin of the same.',
  ],
  'obo.targets.guarded': [
    'done',
    'Without targets no stored server asks for Graph, Azure’s management or the login application, however it is written.',
  ],
  'obo.targets.microsoft': [
    'done',
    'Without targets no stored server asks Entra for a service of Microsoft’s own.',
  ],
  'obo.targets.bare': [
    'done',
    'Where the login is known by its issuer alone, a stored server’s scopes name their resource.',
  ],
  'obo.targets.graph': [
    'done',
    'The token behind the placeholder for Graph is held to targets, https and a fixed address as any other.',
  ],
  'obo.targets.authority': [
    'done',
    'An override counts as the operator’s only where it decides nothing anew.',
  ],
  'obo.targets.user': ['done', 'Of obo a user says scopes alone, and no proxy beside it.'],
  'obo.targets.https': [
    'done',
    'No exchanged token goes over plain http but to loopback or an origin of the targets.',
  ],
  'obo.targets.closed': ['done', 'A server whose provider is not known gets no token.'],
  'obo.targets.warm': [
    'done',
    'Whether a token may go there is decided once, and anew when providers or the login change.',
  ],
  'obo.targets.quiet': ['done', 'Why a token may not go there is told without repeating the definition.'],
  'obo.targets.write': ['done', 'A user’s server is held to all of it before anything is stored or opened.'],
  'obo.targets.override': [
    'done',
    'An administrator’s override is held to the targets before it is stored, with no audience but the file’s.',
  ],
  'obo.targets.placeholders': [
    'done',
    'An override stands for no token of the user, and leads none elsewhere.',
  ],
  'obo.targets.values': [
    'done',
    'Where a stored server leads over plain http, no user’s value or sign-in goes.',
  ],
} as const satisfies Record<string, Requirement>;
