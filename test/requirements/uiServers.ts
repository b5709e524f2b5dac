import type { Requirement } from '../requirements.ts';

/** The pages about servers. */
export const uiServers = {
  'ui.servers.form-keeps': [
    'done',
    'A server that is opened in the dialog and saved loses nothing; secrets stay unless they are typed anew or taken away.',
  ],
  'ui.servers.form-offers': ['done', 'What the dialog offers for a new server is what the gateway accepts.'],
  'ui.servers.form-locks': [
    'done',
    'Without CONFIGURE_OBO the dialog locks the fields of an OBO server that the gateway locks, and no others.',
  ],
  'ui.servers.form-problems': [
    'done',
    'What the gateway finds wrong with a definition is said at its field.',
  ],
  'ui.servers.state': ['done', 'How a server stands for a user is told from what the gateway says about it.'],
  'ui.servers.reinit': ['done', 'Each outcome of a reinit has words of its own, and says what to do next.'],
  'ui.servers.diagnosis-words': [
    'done',
    'A diagnosis says where a call stops and what to do, in plain words.',
  ],
  'ui.servers.filter': ['done', 'Servers are found by their texts, where they come from and what they need.'],
  'ui.servers.sharing': [
    'done',
    'The sharing dialog sends what was changed and nothing else, and offers nobody more than they may give.',
  ],
  'ui.servers.journey': [
    'done',
    'A server that goes down is shown as unreachable with the moment, and as connected once it is up again.',
  ],
  'ui.values.life': [
    'done',
    'Values that a server wants of its users are asked for, stored, used, and cleared one by one or at once.',
  ],
  'ui.values.unseen': ['done', 'A value that was entered is never sent to a browser again.'],
  'ui.values.refused': ['done', 'A value that is refused is told at its field.'],
} as const satisfies Record<string, Requirement>;
