import type { Requirement } from '../requirements.ts';

/** What people look at, as a browser shows it. */
export const ui = {
  'ui.strings.one-place': ['done', 'Every word of the interface stands in one folder, for translation.'],
  'ui.accessible': [
    'done',
    'No page has a serious barrier for people who use a keyboard or a screen reader, in light and dark, wide and narrow.',
  ],
  'ui.first-run': ['done', 'From an empty directory the pages lead to the result of a first tool.'],
  'ui.sign-in.return': ['done', 'Whoever signs in comes out at the page they wanted.'],
  'ui.sign-in.out': ['done', 'Whoever signs out sees no page of theirs any more.'],
  'ui.sign-in.ended': [
    'done',
    'A sign-in that ends while a page is open is told over the page, and a new one leads back to it.',
  ],
  'ui.chat.streams': ['done', 'An answer can be read while it is being written.'],
  'ui.chat.authority': [
    'done',
    'A call of a tool says on whose authority it was made, and with which scopes.',
  ],
  'ui.chat.connect': [
    'done',
    'A sign-in that is missing is asked for in the conversation, which then goes on.',
  ],
  'ui.chat.parallel': ['done', 'Calls that the model makes together are shown side by side as they run.'],
  'ui.chat.choices': [
    'done',
    'The model that is chosen is asked, with the tools of the servers that are ticked and no others.',
  ],
  'ui.chat.results': ['done', 'Tables, pictures, sounds and links of a result are shown as such.'],
  'ui.chat.approval': ['done', 'A tool that asks first runs when its user approves it, once, and else not.'],
  'ui.chat.stop': ['done', 'Stopping an answer stops its tools at their servers.'],
  'ui.chat.kept': ['done', 'Conversations are kept, can be renamed, and are gone once they are deleted.'],
  'ui.chat.private': ['done', 'Nobody else finds a conversation, whatever its address.'],
  'ui.console.form': [
    'done',
    'Without a model the same page runs tools by hand, with forms made of their schemas.',
  ],
  'ui.console.refused': ['done', 'What the gateway finds wrong with an argument is said at its field.'],
  'ui.console.approval': [
    'done',
    'Run by hand, a tool that asks first is approved with its arguments in sight.',
  ],
  'ui.console.cancel': ['done', 'A run by hand shows its progress, and can be cancelled at its server.'],
  'ui.console.curl': ['done', 'A call can be copied as a command, which holds no key.'],
  'ui.servers.create': ['done', 'A server is tested before it is added, and a refusal is said at its field.'],
  'ui.servers.key': ['done', 'A key that is typed for a server is used for it, and never shown again.'],
  'ui.servers.conflict': [
    'done',
    'Whoever saves what somebody else changed meanwhile is told so, and loads the newest first.',
  ],
  'ui.servers.delete': ['done', 'A server is deleted after a question, and is gone from the list.'],
  'ui.servers.edit': ['done', 'Changing the title of a server changes nothing else of it.'],
  'ui.servers.share': [
    'done',
    'A server is shared with somebody who is found by name, and who can then use it.',
  ],
  'ui.servers.viewer': [
    'done',
    'Nobody is offered to change, share or delete a server that they may only use.',
  ],
  'ui.servers.diagnose': [
    'done',
    'In a browser: the page of a server says step by step why calls do or do not work, and begins nothing.',
  ],
  'ui.servers.obo-hidden': ['done', 'On-Behalf-Of is offered to roles with CONFIGURE_OBO alone.'],
  'ui.servers.obo-locked': [
    'done',
    'Without CONFIGURE_OBO an editor of a server with On-Behalf-Of changes its texts, and its other fields are locked.',
  ],
  'ui.rights.follow': ['done', 'Rights that are taken away go from an open page, with a word about it.'],
  'ui.rights.refused': ['done', 'What was begun with rights that are gone is refused in words.'],
  'ui.offline.page': [
    'done',
    'A gateway that cannot be reached is told, what was typed stays, and everything is read anew afterwards.',
  ],
  'ui.offline.chat': [
    'done',
    'An answer whose connection broke says so, and is read again from the gateway.',
  ],
  'ui.harmless.tools': ['done', 'What servers say of tools, and what tools give, is never more than text.'],
  'ui.harmless.chat': [
    'done',
    'What a model writes is never more than text, and no picture of it is fetched.',
  ],
  'ui.harmless.approval': [
    'done',
    'Names and arguments in the question whether a tool may run are never more than text.',
  ],
  'ui.harmless.servers': ['done', 'Titles and descriptions of servers are never more than text.'],
  'ui.harmless.admin': [
    'done',
    'Names of people, roles and tools are never more than text in the administration.',
  ],
  'ui.keyboard.tool': ['done', 'From the first page to the result of a tool, keys are enough.'],
  'ui.keyboard.dialog': [
    'done',
    'A dialog keeps the focus, gives it back, and asks before it drops what was typed.',
  ],

  // What people are used to from pages elsewhere.
  'ui.chat.large': [
    'done',
    'A picture of a result that is too large to be kept is shown as it comes; afterwards it is said what is missing.',
  ],
  'ui.habits.copy': ['done', 'What the browser does not let us copy stands selected in a field.'],
  'ui.habits.still': ['done', 'Nothing on a page moves when what was slow arrives.'],
  'ui.habits.frame': ['done', 'On a slow network a frame is there before the script is.'],
  'ui.habits.busy': ['done', 'A button that is busy keeps the focus, and takes no second press.'],
  'ui.habits.drawer': [
    'done',
    'The navigation of a narrow screen takes the focus, holds the page back, and gives the focus back.',
  ],
  'ui.habits.address': [
    'done',
    'A dialog of a server and a tool that was picked stand in the address, and are there after a reload.',
  ],
} as const satisfies Record<string, Requirement>;
