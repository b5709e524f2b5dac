import type { ServerWords } from './largeCatalog.ts';

/** Customers, money and documents. */
export const businessWords: readonly ServerWords[] = [
  {
    ...{ name: 'salesforce', product: 'Salesforce', style: 'camel' },
    verbs: ['list', 'get', 'create', 'update', 'delete', 'search'],
    resources: [
      [
        'account',
        'accounts',
        'A company that is a customer or may become one.',
        { name: 'Name', industry: 'Industry', annualRevenue: 'Revenue in a year' },
      ],
      [
        'contact',
        'contacts',
        'A person at a company.',
        { accountId: 'Company', lastName: 'Last name', email: 'Address' },
      ],
      [
        'lead',
        'leads',
        'Somebody who may become a customer.',
        {
          company: 'Company',
          lastName: 'Last name',
          status: 'Status: Open|Contacted|Qualified|Unqualified',
          leadSource: 'Where from',
        },
      ],
      [
        'opportunity',
        'opportunities',
        'A deal that may be won.',
        {
          accountId: 'Company',
          amount: 'How much',
          stageName: 'Stage: Prospecting|Proposal|Negotiation|Closed Won|Closed Lost',
          closeDate: 'When it is expected',
        },
      ],
      [
        'campaign',
        'campaigns',
        'A marketing effort with its members.',
        { name: 'Name', budgetedCost: 'Budget' },
      ],
      [
        'case',
        'cases',
        'A question or problem of a customer.',
        { accountId: 'Company', subject: 'Subject', origin: 'How it came: Phone|Email|Web' },
      ],
      [
        'quote',
        'quotes',
        'Prices that were offered for a deal.',
        { opportunityId: 'Deal', expirationDate: 'Valid until' },
      ],
      [
        'contract',
        'contracts',
        'An agreement with a customer.',
        { accountId: 'Company', startDate: 'From', contractTerm: 'Months' },
      ],
      ['product', 'products', 'Something that is sold.', { name: 'Name', productCode: 'Code' }],
      ['pricebook', 'pricebooks', 'A list of prices.', { name: 'Name', isActive: 'Whether it is in use' }],
      [
        'report',
        'reports',
        'Figures by a saved definition.',
        { reportId: 'Report', includeDetails: 'With rows' },
      ],
      [
        'task',
        'tasks',
        'Something to do about a record.',
        { subject: 'Subject', whatId: 'Record', activityDate: 'Due' },
      ],
    ],
    specials: [
      [
        'convertLead',
        'Turns a lead into an account, a contact and an opportunity.',
        { leadId: 'Lead', convertedStatus: 'New status' },
      ],
      ['runSoqlQuery', 'Runs a query in SOQL over any object.', { query: 'The query' }],
      [
        'logCall',
        'Writes down a phone call with a contact.',
        { whoId: 'Contact', description: 'What was said', durationInMinutes: 'How long' },
      ],
      ['describeObject', 'Shows the fields of an object.', { objectName: 'Object' }],
      [
        'mergeAccounts',
        'Puts duplicate accounts into one.',
        { masterId: 'Account that stays', duplicateIds: 'Accounts that end' },
      ],
    ],
  },
  {
    ...{ name: 'hubspot', product: 'HubSpot', style: 'kebab' },
    verbs: ['list', 'get', 'create', 'update', 'delete', 'search'],
    resources: [
      [
        'contact',
        'contacts',
        'A person in the CRM.',
        { email: 'Address', firstname: 'First name', lifecyclestage: 'Stage: subscriber|lead|customer' },
      ],
      ['company', 'companies', 'An organization in the CRM.', { domain: 'Domain', name: 'Name' }],
      [
        'deal',
        'deals',
        'A sale in a pipeline.',
        { dealname: 'Name', amount: 'How much', dealstage: 'Stage', pipeline: 'Pipeline' },
      ],
      ['quote', 'quotes', 'A price offer for a deal.', { dealId: 'Deal', hs_expiration_date: 'Valid until' }],
      ['form', 'forms', 'Fields on a web page that visitors fill in.', { name: 'Name', fields: 'Fields' }],
      [
        'landing-page',
        'landing-pages',
        'A page that visitors of a campaign arrive at.',
        { name: 'Name', slug: 'Address' },
      ],
      [
        'marketing-email',
        'marketing-emails',
        'A newsletter to many contacts.',
        { subject: 'Subject', listId: 'To which list' },
      ],
      [
        'contact-list',
        'contact-lists',
        'A segment of contacts.',
        { name: 'Name', filters: 'Who belongs to it' },
      ],
      ['pipeline', 'pipelines', 'The stages of sales.', { label: 'Name', stages: 'Stages' }],
      ['note', 'notes', 'A note about a record.', { body: 'Text', recordId: 'Record' }],
    ],
    specials: [
      [
        'enroll-in-sequence',
        'Starts a series of automatic e-mail to a contact.',
        { contactId: 'Contact', sequenceId: 'Series' },
      ],
      [
        'get-campaign-analytics',
        'Shows opens, clicks and conversions of a marketing campaign.',
        { campaignId: 'Campaign', startDate: 'From', endDate: 'To' },
      ],
      [
        'associate-records',
        'Connects two records, such as a contact and a company.',
        { fromId: 'One', toId: 'The other', associationType: 'How' },
      ],
      [
        'import-contacts',
        'Loads contacts from a CSV file.',
        { fileUrl: 'File', mapping: 'Which column is what' },
      ],
    ],
  },
  {
    ...{ name: 'stripe', product: 'Stripe', style: 'snake' },
    verbs: ['list', 'get', 'create', 'update', 'delete', 'search'],
    resources: [
      ['customer', 'customers', 'Somebody who pays.', { email: 'Address', name: 'Name' }],
      [
        'invoice',
        'invoices',
        'A bill to a customer.',
        { customer: 'Customer', due_date: 'Due', auto_advance: 'Whether it is sent by itself' },
      ],
      [
        'subscription',
        'subscriptions',
        'A plan that a customer pays for again and again.',
        { customer: 'Customer', price: 'Price', trial_period_days: 'Days without pay' },
      ],
      [
        'product',
        'products',
        'Something that is sold.',
        { name: 'Name', active: 'Whether it can be bought' },
      ],
      [
        'price',
        'prices',
        'How much a product costs.',
        {
          product: 'Product',
          unit_amount: 'Amount in cents',
          currency: 'Currency',
          interval: 'How often: day|week|month|year',
        },
      ],
      [
        'coupon',
        'coupons',
        'A discount.',
        { percent_off: 'Percent', duration: 'How long: once|repeating|forever' },
      ],
      [
        'payment_link',
        'payment_links',
        'A page where anybody can pay.',
        { price: 'Price', quantity: 'How many' },
      ],
      [
        'payout',
        'payouts',
        'Money that goes to your bank account.',
        { amount: 'Amount', currency: 'Currency' },
      ],
      [
        'dispute',
        'disputes',
        'A payment that a customer contests at the bank.',
        { charge: 'Payment', evidence: 'What speaks for you' },
      ],
      [
        'tax_rate',
        'tax_rates',
        'A tax on invoices.',
        { display_name: 'Name', percentage: 'Percent', country: 'Country' },
      ],
      [
        'payment_method',
        'payment_methods',
        'A card or an account that a customer pays with.',
        { customer: 'Customer', type: 'Kind: card|sepa_debit|us_bank_account' },
      ],
    ],
    specials: [
      [
        'refund_charge',
        'Gives a customer money back, all or a part of a payment.',
        { charge: 'Payment', amount: 'How much', reason: 'Why: duplicate|fraudulent|requested_by_customer' },
      ],
      [
        'cancel_subscription',
        'Ends a subscription, now or at the end of its period.',
        { subscription: 'Subscription', at_period_end: 'Whether it runs out' },
      ],
      ['finalize_invoice', 'Makes an invoice final, so that it can be paid.', { invoice: 'Invoice' }],
      ['send_invoice', 'Sends an invoice to its customer by e-mail.', { invoice: 'Invoice' }],
      ['retrieve_balance', 'Shows how much money is available and pending.', {}],
    ],
  },
  {
    ...{ name: 'drive', product: 'Google Drive', style: 'snake' },
    verbs: ['list', 'get', 'create', 'update', 'delete', 'search', 'share'],
    resources: [
      [
        'file',
        'files',
        'A file of your own or of a shared drive.',
        { fileId: 'File', name: 'Name', mimeType: 'Type', parents: 'Folder' },
      ],
      ['folder', 'folders', 'A folder.', { folderId: 'Folder', name: 'Name' }],
      [
        'document',
        'documents',
        'A text document of Google Docs.',
        { documentId: 'Document', title: 'Title', content: 'Text' },
      ],
      [
        'spreadsheet',
        'spreadsheets',
        'A table of Google Sheets.',
        { spreadsheetId: 'Spreadsheet', title: 'Title', sheets: 'Sheets' },
      ],
      [
        'presentation',
        'presentations',
        'Slides of Google Slides.',
        { presentationId: 'Presentation', title: 'Title' },
      ],
      ['comment', 'comments', 'A remark on a file.', { fileId: 'File', content: 'Text' }],
      [
        'shared_drive',
        'shared_drives',
        'A drive of a team.',
        { name: 'Name', restrictions: 'What is not allowed' },
      ],
    ],
    specials: [
      [
        'append_rows',
        'Adds rows at the end of a sheet.',
        { spreadsheetId: 'Spreadsheet', range: 'Sheet', values: 'Rows' },
      ],
      [
        'read_range',
        'Reads cells of a sheet.',
        { spreadsheetId: 'Spreadsheet', range: 'Cells in A1 notation' },
      ],
      ['export_as_pdf', 'Downloads a document, spreadsheet or presentation as PDF.', { fileId: 'File' }],
      ['move_to_trash', 'Puts a file into the trash, from where it can be restored.', { fileId: 'File' }],
      [
        'set_permission',
        'Changes who may read, comment or edit a file.',
        { fileId: 'File', emailAddress: 'Who', role: 'What: reader|commenter|writer' },
      ],
      ['list_revisions', 'Shows earlier versions of a file.', { fileId: 'File' }],
    ],
  },
];
