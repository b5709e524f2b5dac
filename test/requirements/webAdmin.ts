import type { Requirement } from '../requirements.ts';

export const webAdmin = {
  'web.charts.scale': ['done', 'A chart is as tall as its largest value asks for, up to a round number.'],
  'web.charts.values': ['done', 'Each value of a chart is reached by pointer and by keys.'],
  'web.connections.condition': ['done', 'Servers that need somebody stand on top, open breakers first.'],
  'web.audit.filters': [
    'done',
    'Filters of the audit log stand in the address, and none is sent that is refused.',
  ],
  'web.audit.events': ['done', 'An event is shown as what it is, and a spoilt one as spoilt.'],
  'web.config.masked': ['done', 'A hidden secret of the configuration is shown as hidden.'],
  'web.keys.life': ['done', 'Whoever has a key sees in time that it expires.'],
  'ui.admin.switch': [
    'done',
    'A permission that is switched in the pages counts for its role at once; what the configuration decides is locked.',
  ],
  'ui.admin.roles': ['done', 'A role is made and deleted in the pages; one that somebody has stays.'],
  'ui.admin.users': [
    'done',
    'Whoever is given another role, signed out or disabled in the pages is so at once.',
  ],
  'ui.admin.audit': [
    'done',
    'A filter of the audit log stands in the address, an export has the same, and the log is verified.',
  ],
  'ui.admin.config': [
    'done',
    'What runs is shown without its secrets, and read again; a file with mistakes is refused at their places.',
  ],
  'ui.admin.overview': [
    'done',
    'The overview counts the hour or the day that is chosen, below what is left alone just now.',
  ],
  'ui.settings.theme': ['done', 'Colours that somebody chose stay in their browser.'],
  'ui.settings.keys': ['done', 'A new API key is shown once, and is refused after it was deleted.'],
} as const satisfies Record<string, Requirement>;
