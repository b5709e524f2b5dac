import type { Requirement } from '../requirements.ts';

export const web = {
  'web.pages.signed-in': [
    'done',
    'At each of its addresses the interface is given to who is signed in; everybody else is led to the sign-in.',
  ],
  'web.pages.return': [
    'done',
    'A sign-in leads back to the address that was asked for, if it is a path of ours, and to no other place.',
  ],
  'web.pages.not-built': ['done', 'Where the interface is not built a page says so, and the API works.'],
  'web.pages.headers': [
    'done',
    'The page of the interface runs scripts of ours alone, makes none of text, and is kept by no cache.',
  ],
  'web.assets.served': ['done', 'What the interface loads is served as it was built, with a type and a tag.'],
  'web.assets.compressed': ['done', 'A file is sent in the smallest form that the caller takes.'],
  'web.assets.others': ['done', 'No other file is served, whatever the path says.'],
  'web.build.current': ['done', 'Tests run with the interface that the sources make.'],
  'web.check.same': ['done', 'A check of a server is answered as saving it would be.'],
  'web.check.stores-nothing': ['done', 'A check stores nothing, and changes nothing that anybody sees.'],
  'web.check.told': ['done', 'A check that went well is written down.'],
  'web.check.refused': ['done', 'A check that is refused is written down.'],
  'web.check.looks': ['done', 'A check says whether the server was looked at, and how many tools it has.'],
  'web.tools.states': ['done', 'The tools of one server come with its state, as in the list of all servers.'],
  'web.tools.details': [
    'done',
    'A tool of one server comes with its schemas, its name towards models, and in whose name it is called.',
  ],
  'web.tools.policy': [
    'done',
    'A tool that is denied is not listed; one that asks first says so; a server that is not seen does not exist.',
  ],
} as const satisfies Record<string, Requirement>;
