import type { Requirement } from '../requirements.ts';

export const webTools = {
  'web.results.blocks': [
    'done',
    'A piece of a result is shown as what it is, and as it came where it is not understood.',
  ],
  'web.results.pictures': [
    'done',
    'Only pictures of points are shown as pictures; whatever else calls itself one is a file to be saved.',
  ],
  'web.results.links': ['done', 'Only addresses of the web can be opened, and where they lead is shown.'],
  'web.results.files': ['done', 'A file of a result is saved under a plain name.'],
  'web.results.once': ['done', 'What a result says twice is shown once.'],
  'web.results.text': ['done', 'A long text is laid out piece by piece, and nothing of it is lost.'],
  'web.results.json': ['done', 'JSON that came as text is indented, and otherwise as it was written.'],
  'web.results.tables': ['done', 'What has the shape of rows is shown in rows.'],
  'web.form.fields': [
    'done',
    'A form has a field for what a schema describes, and takes JSON for what it cannot express.',
  ],
  'web.form.defaults': [
    'done',
    'A form begins with what the schema fills in, and leaves out what is optional.',
  ],
  'web.form.exact': ['done', 'Arguments come out of a form as they went in, whatever they are called.'],
  'web.form.checks': [
    'done',
    'What is wrong with arguments is said at its field; patterns of a server are not tried in the browser.',
  ],
  'web.form.refused': ['done', 'What the gateway finds wrong stands at its field, or at the top.'],
  'web.form.hostile': ['done', 'No schema of a server holds up or breaks the page.'],
  'web.console.stream': ['done', 'A call hears of its progress, and a connection that breaks is no answer.'],
  'web.console.runs': ['done', 'A run shows how far it is and how it ended; the last twenty are remembered.'],
  'web.console.asks': ['done', 'A tool that asks first is called again after a yes alone, unchanged.'],
  'web.console.curl': [
    'done',
    'A call copied as a command holds no key, and a shell runs nothing that stands in it.',
  ],
  'web.console.link': ['done', 'A link to a tool carries arguments, and gives them back.'],
  'web.console.connect': ['done', 'A sign-in that is missing begins at this gateway or nowhere.'],
  'web.call.exact': [
    'done',
    'Whoever approves a call sees its arguments as JSON, whole and with nothing folded.',
  ],
  'web.call.visible': [
    'done',
    'No character of the arguments or of a name is invisible, or changes how others are shown.',
  ],
  'web.console.list': ['done', 'Tools are found by words of their names and descriptions.'],
} as const satisfies Record<string, Requirement>;
