import type { Requirement } from '../requirements.ts';

export const webAdd = {
  'web.add.form': ['done', 'What a server was found with is what the form of its details begins with.'],
  'web.add.kept': [
    'done',
    'What waits for a sign-in that leaves the page holds no credential, and is taken up once.',
  ],
  'web.add.public': [
    'done',
    'In a browser: a server is found by its address, its tools are looked through, and it is saved.',
  ],
  'web.add.sign-in': [
    'done',
    'In a browser: a server that wants a sign-in is signed in at before it is saved, and not once more after.',
  ],
  'web.add.same-tab': [
    'done',
    'In a browser: where no window opens, finding a server goes on after the sign-in in the page.',
  ],
  'web.add.key': [
    'done',
    'In a browser: a server that names no place to sign in is asked with a token or key, which goes into the details.',
  ],
  'web.add.refused': [
    'done',
    'In a browser: a server that refuses the new sign-in is told with a hint about audience or scopes.',
  ],
  'web.add.text': ['done', 'In a browser: what a server says that nobody saved is text.'],
} as const satisfies Record<string, Requirement>;
