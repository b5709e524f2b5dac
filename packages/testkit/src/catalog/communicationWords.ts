import type { ServerWords } from './largeCatalog.ts';

/** Communication with colleagues and customers. */
export const communicationWords: readonly ServerWords[] = [
  {
    ...{ name: 'slack', product: 'Slack', style: 'snake' },
    verbs: ['list', 'get', 'create', 'update', 'delete', 'search', 'archive'],
    resources: [
      [
        'channel',
        'channels',
        'A room for a topic, open or private.',
        { channel: 'Id of the channel', name: 'Name', is_private: 'Whether one has to be invited' },
      ],
      [
        'user_group',
        'user_groups',
        'People that are mentioned together.',
        { handle: 'What it is mentioned by', users: 'Its members' },
      ],
      [
        'canvas',
        'canvases',
        'A document inside of Slack.',
        { channel: 'Channel it belongs to', content: 'Text in Markdown' },
      ],
      [
        'bookmark',
        'bookmarks',
        'A link at the top of a channel.',
        { channel: 'Channel', title: 'Title', link: 'Address' },
      ],
      [
        'reminder',
        'reminders',
        'A note that Slack brings up at a given time.',
        { text: 'What about', time: 'When', user: 'For whom' },
      ],
      ['workflow', 'workflows', 'Steps that run by themselves.', { name: 'Name', trigger: 'What starts it' }],
      [
        'emoji',
        'emojis',
        'A picture of the workspace for messages.',
        { name: 'Name', url: 'Address of the picture' },
      ],
      [
        'file',
        'files',
        'A file that was shared in a channel.',
        { channel: 'Channel', filename: 'Name', title: 'Title' },
      ],
    ],
    specials: [
      [
        'post_message',
        'Sends a message to a channel or as a direct message to a person.',
        { channel: 'Channel or person', text: 'Text', thread_ts: 'Message to answer in a thread' },
      ],
      [
        'schedule_message',
        'Sends a message to a channel at a later time.',
        { channel: 'Channel', text: 'Text', post_at: 'When, as Unix time' },
      ],
      [
        'add_reaction',
        'Reacts to a message with an emoji.',
        { channel: 'Channel', timestamp: 'Message', name: 'Name of the emoji' },
      ],
      [
        'get_channel_history',
        'Reads the latest messages of a channel.',
        { channel: 'Channel', oldest: 'Only after this time', limit: 'How many' },
      ],
      [
        'get_thread_replies',
        'Reads the answers in a thread.',
        { channel: 'Channel', ts: 'First message of the thread' },
      ],
      [
        'search_messages',
        'Finds messages of all channels by their words.',
        { query: 'Words', sort: 'Order: score|timestamp' },
      ],
      ['invite_to_channel', 'Adds people to a channel.', { channel: 'Channel', users: 'People' }],
      [
        'set_status',
        'Sets your own status text and emoji, for example that you are on vacation.',
        { status_text: 'Text', status_emoji: 'Emoji', expiration: 'Until when' },
      ],
      [
        'set_channel_topic',
        'Changes the topic that stands above a channel.',
        { channel: 'Channel', topic: 'Text' },
      ],
      [
        'pin_message',
        'Keeps a message at the top of a channel.',
        { channel: 'Channel', timestamp: 'Message' },
      ],
      [
        'get_user_profile',
        'Shows name, title, time zone and e-mail address of a person.',
        { user: 'Person' },
      ],
    ],
  },
  {
    ...{ name: 'outlook', product: 'Outlook', style: 'kebab' },
    verbs: ['list', 'get', 'create', 'update', 'delete', 'search'],
    resources: [
      [
        'message',
        'messages',
        'An e-mail in a mailbox.',
        {
          mailbox: 'Mailbox',
          subject: 'Subject',
          bodyPreview: 'Beginning of the text',
          importance: 'Importance: low|normal|high',
        },
      ],
      [
        'draft',
        'drafts',
        'An e-mail that was not sent yet.',
        { to: 'Recipients', cc: 'Further recipients', subject: 'Subject', body: 'Text' },
      ],
      [
        'mail-folder',
        'mail-folders',
        'A folder of a mailbox.',
        { displayName: 'Name', parentFolderId: 'Folder above' },
      ],
      [
        'inbox-rule',
        'inbox-rules',
        'What happens by itself with new e-mail.',
        { displayName: 'Name', conditions: 'Which e-mail', actions: 'What is done' },
      ],
      [
        'contact',
        'contacts',
        'A person in the address book.',
        { givenName: 'First name', surname: 'Last name', emailAddresses: 'Addresses', mobilePhone: 'Phone' },
      ],
      [
        'category',
        'categories',
        'A colour for e-mail and appointments.',
        { displayName: 'Name', color: 'Colour' },
      ],
      ['calendar', 'calendars', 'A calendar of a mailbox.', { name: 'Name', color: 'Colour' }],
      [
        'meeting',
        'meetings',
        'An appointment with attendees.',
        { subject: 'Subject', start: 'Begin', end: 'End', attendees: 'Who is invited', location: 'Where' },
      ],
      [
        'task',
        'tasks',
        'Something to do, in a list of Microsoft To Do.',
        { title: 'Title', dueDateTime: 'Due', listId: 'List' },
      ],
      ['signature', 'signatures', 'The text under every e-mail.', { name: 'Name', html: 'Text' }],
    ],
    specials: [
      [
        'send-mail',
        'Sends an e-mail.',
        { to: 'Recipients', subject: 'Subject', body: 'Text', attachments: 'Files' },
      ],
      [
        'reply-to-message',
        'Answers an e-mail, to its sender or to all.',
        { messageId: 'E-mail', body: 'Text', replyAll: 'Whether to all' },
      ],
      [
        'forward-message',
        'Passes an e-mail on to others.',
        { messageId: 'E-mail', to: 'Recipients', comment: 'Text above it' },
      ],
      [
        'set-automatic-replies',
        'Turns the out-of-office answer of a mailbox on or off.',
        {
          status: 'Status: disabled|alwaysEnabled|scheduled',
          internalReplyMessage: 'Text for colleagues',
          externalReplyMessage: 'Text for others',
        },
      ],
      [
        'move-message',
        'Puts an e-mail into another folder.',
        { messageId: 'E-mail', destinationId: 'Folder' },
      ],
      [
        'find-meeting-times',
        'Suggests times at which all attendees are free.',
        { attendees: 'Who has to be there', duration: 'How long', timeConstraint: 'Between when' },
      ],
      ['mark-as-read', 'Marks e-mail as read or unread.', { messageIds: 'E-mail', isRead: 'Read or not' }],
      ['unsubscribe', 'Leaves the mailing list that an e-mail came from.', { messageId: 'E-mail' }],
    ],
  },
  {
    ...{ name: 'gcal', product: 'Google Calendar', style: 'camel' },
    verbs: ['list', 'get', 'create', 'update', 'delete', 'search', 'count'],
    resources: [
      [
        'event',
        'events',
        'An appointment in a calendar.',
        {
          calendarId: 'Calendar',
          summary: 'Title',
          start: 'Begin',
          end: 'End',
          attendees: 'Guests',
          recurrence: 'How it repeats',
        },
      ],
      [
        'calendar',
        'calendars',
        'A calendar that you own or follow.',
        { summary: 'Name', timeZone: 'Time zone' },
      ],
      [
        'reminder',
        'reminders',
        'A notification before an appointment.',
        { eventId: 'Appointment', minutes: 'How long before', method: 'How: email|popup' },
      ],
      [
        'room',
        'rooms',
        'A meeting room with its equipment.',
        { building: 'Building', capacity: 'Seats', features: 'What is in it' },
      ],
      [
        'workingLocation',
        'workingLocations',
        'From where somebody works on a day.',
        { date: 'Day', type: 'Where: homeOffice|officeLocation' },
      ],
      [
        'appointmentSchedule',
        'appointmentSchedules',
        'Times that others can book with you.',
        { title: 'Title', duration: 'How long' },
      ],
    ],
    specials: [
      [
        'queryFreeBusy',
        'Says when people or rooms are busy.',
        { timeMin: 'From', timeMax: 'To', items: 'Calendars' },
      ],
      [
        'respondToEvent',
        'Accepts or declines an invitation.',
        {
          eventId: 'Appointment',
          responseStatus: 'Answer: accepted|declined|tentative',
          comment: 'Note to the organizer',
        },
      ],
      [
        'moveEvent',
        'Moves an appointment to another calendar.',
        { eventId: 'Appointment', destination: 'Calendar' },
      ],
      [
        'quickAddEvent',
        'Makes an appointment from a sentence.',
        { calendarId: 'Calendar', text: 'The sentence' },
      ],
      [
        'shareCalendar',
        'Lets somebody see or change a calendar.',
        { calendarId: 'Calendar', scope: 'Who', role: 'What: reader|writer|freeBusyReader' },
      ],
    ],
  },
  {
    ...{ name: 'zendesk', product: 'Zendesk', style: 'snake' },
    verbs: ['list', 'get', 'create', 'update', 'delete', 'search'],
    resources: [
      [
        'ticket',
        'tickets',
        'A request of a customer to support.',
        {
          subject: 'Subject',
          requester_id: 'Customer',
          status: 'Status: new|open|pending|solved',
          priority: 'Priority: low|normal|high|urgent',
        },
      ],
      [
        'user',
        'users',
        'A customer or an agent.',
        { name: 'Name', email: 'Address', role: 'Role: end-user|agent|admin' },
      ],
      [
        'organization',
        'organizations',
        'The company of customers.',
        { name: 'Name', domain_names: 'Its e-mail domains' },
      ],
      [
        'macro',
        'macros',
        'An answer with changes that agents apply to tickets.',
        { title: 'Title', actions: 'What it changes' },
      ],
      [
        'trigger',
        'triggers',
        'What happens when a ticket changes.',
        { title: 'Title', conditions: 'When', actions: 'What' },
      ],
      ['view', 'views', 'A list of tickets by conditions.', { title: 'Title', conditions: 'Which tickets' }],
      [
        'help_article',
        'help_articles',
        'An article of the help center.',
        { title: 'Title', body: 'Text', locale: 'Language' },
      ],
      [
        'sla_policy',
        'sla_policies',
        'How fast tickets have to be answered.',
        { title: 'Title', target: 'Within how many minutes' },
      ],
      [
        'satisfaction_rating',
        'satisfaction_ratings',
        'How content a customer was.',
        { ticket_id: 'Ticket', score: 'Score: good|bad' },
      ],
    ],
    specials: [
      [
        'add_ticket_comment',
        'Answers a ticket, to the customer or as an internal note.',
        { ticket_id: 'Ticket', body: 'Text', public: 'Whether the customer reads it' },
      ],
      [
        'merge_tickets',
        'Puts several tickets about the same matter into one.',
        { target_id: 'Ticket that stays', source_ids: 'Tickets that end' },
      ],
      [
        'assign_ticket',
        'Gives a ticket to an agent or a group.',
        { ticket_id: 'Ticket', assignee_id: 'Agent' },
      ],
      ['apply_macro', 'Applies a macro to a ticket.', { ticket_id: 'Ticket', macro_id: 'Macro' }],
    ],
  },
];
