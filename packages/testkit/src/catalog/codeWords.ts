import type { ServerWords } from './largeCatalog.ts';

const repositoryFields = {
  owner: 'Account that owns the repository',
  repositoryFields: 'Name of the repository',
};

/** Code and issue tracking. */
export const codeWords: readonly ServerWords[] = [
  {
    ...{ name: 'github', product: 'GitHub', style: 'snake' },
    verbs: ['list', 'get', 'create', 'update', 'delete', 'search'],
    resources: [
      [
        'issue',
        'issues',
        'A bug report or feature request in a repository.',
        {
          ...repositoryFields,
          title: 'Title',
          body: 'Text in Markdown',
          labels: 'Labels to apply',
          state: 'State: open|closed',
        },
      ],
      [
        'pull_request',
        'pull_requests',
        'A proposed change of code from one branch to another.',
        {
          ...repositoryFields,
          head: 'Branch with the changes',
          base: 'Branch to merge into',
          draft: 'Whether it is a draft',
        },
      ],
      [
        'branch',
        'branches',
        'A line of development in a repository.',
        { ...repositoryFields, branch: 'Name of the branch', sha: 'Commit it points at' },
      ],
      [
        'release',
        'releases',
        'A published version with notes and files.',
        { ...repositoryFields, tag_name: 'Tag of the version', prerelease: 'Whether it is not final' },
      ],
      [
        'label',
        'labels',
        'A coloured mark for issues and pull requests.',
        { ...repositoryFields, name: 'Name of the label', color: 'Colour as six hex digits' },
      ],
      [
        'milestone',
        'milestones',
        'A goal with a due date that collects issues.',
        { ...repositoryFields, title: 'Title', due_on: 'When it is due' },
      ],
      [
        'repository',
        'repositories',
        'A project with its code and history.',
        { name: 'Name', private: 'Whether only members see it', organization: 'Organization it belongs to' },
      ],
      [
        'gist',
        'gists',
        'A snippet of code that is shared by its address.',
        {
          description: 'What it shows',
          public: 'Whether everybody finds it',
          files: 'Files with their content',
        },
      ],
      [
        'webhook',
        'webhooks',
        'An address that is told about events of a repository.',
        { ...repositoryFields, url: 'Where events are sent', events: 'Which events' },
      ],
      [
        'team',
        'teams',
        'A group of members of an organization.',
        { org: 'Organization', team_slug: 'Short name of the team', privacy: 'Who sees it: secret|closed' },
      ],
      [
        'review_comment',
        'review_comments',
        'A remark on a line of a pull request.',
        {
          ...repositoryFields,
          pull_number: 'Number of the pull request',
          line: 'Line it is about',
          body: 'Text',
        },
      ],
      [
        'deploy_key',
        'deploy_keys',
        'An SSH key that reads or writes one repository.',
        { ...repositoryFields, key: 'Public key', read_only: 'Whether it may only read' },
      ],
    ],
    specials: [
      [
        'merge_pull_request',
        'Merges a pull request into its base branch.',
        {
          ...repositoryFields,
          pull_number: 'Number of the pull request',
          merge_method: 'How: merge|squash|rebase',
        },
      ],
      [
        'request_reviewers',
        'Asks people or teams to review a pull request.',
        {
          ...repositoryFields,
          pull_number: 'Number of the pull request',
          reviewers: 'Logins of the people asked',
        },
      ],
      [
        'get_file_contents',
        'Reads a file or a folder of a repository at a given ref.',
        { ...repositoryFields, path: 'Path of the file', ref: 'Branch, tag or commit' },
      ],
      [
        'create_or_update_file',
        'Writes one file in a repository and commits it.',
        { ...repositoryFields, path: 'Path of the file', content: 'New content', message: 'Commit message' },
      ],
      [
        'push_files',
        'Commits several files at once.',
        { ...repositoryFields, branch: 'Branch', files: 'Paths and contents', message: 'Commit message' },
      ],
      [
        'fork_repository',
        'Copies a repository into your own account.',
        { ...repositoryFields, organization: 'Where to put the copy' },
      ],
      [
        'search_code',
        'Finds text in the code of all repositories.',
        { q: 'What to look for, with qualifiers', sort: 'Order of the matches' },
      ],
      [
        'run_workflow',
        'Starts a GitHub Actions workflow by hand.',
        { ...repositoryFields, workflow_id: 'File name or id of the workflow', inputs: 'Inputs of the run' },
      ],
      [
        'get_job_logs',
        'Downloads the output of the jobs of a workflow run, for example of those that failed.',
        { ...repositoryFields, run_id: 'Id of the run', failed_only: 'Only jobs that failed' },
      ],
      [
        'list_commits',
        'Shows the history of commits of a branch or a file.',
        {
          ...repositoryFields,
          sha: 'Branch or commit',
          author: 'Only by this author',
          since: 'Only after this time',
        },
      ],
      ['star_repository', 'Adds a repository to those you starred.', repositoryFields],
      [
        'compare_refs',
        'Shows the differences between two commits, tags or branches.',
        { ...repositoryFields, base: 'From', head: 'To' },
      ],
    ],
  },
  {
    ...{ name: 'jira', product: 'Jira', style: 'kebab' },
    verbs: ['list', 'get', 'create', 'update', 'delete', 'search'],
    resources: [
      [
        'issue',
        'issues',
        'A story, task or bug of a project.',
        {
          projectKey: 'Key of the project',
          summary: 'One line',
          issueType: 'Kind: Story|Task|Bug|Epic',
          priority: 'Priority: Highest|High|Medium|Low',
        },
      ],
      [
        'project',
        'projects',
        'A collection of issues with a workflow of its own.',
        { key: 'Key', name: 'Name', lead: 'Who leads it' },
      ],
      [
        'board',
        'boards',
        'A Scrum or Kanban view of issues.',
        { boardId: 'Id of the board', type: 'Kind: scrum|kanban' },
      ],
      [
        'sprint',
        'sprints',
        'A period of time in which a team works on chosen issues.',
        {
          boardId: 'Board',
          name: 'Name',
          startDate: 'First day',
          endDate: 'Last day',
          goal: 'What is to be reached',
        },
      ],
      [
        'epic',
        'epics',
        'A large piece of work that spans several stories.',
        { projectKey: 'Project', summary: 'One line', color: 'Colour on the board' },
      ],
      [
        'version',
        'versions',
        'A release that issues are planned for.',
        { projectKey: 'Project', name: 'Name', releaseDate: 'When it is out' },
      ],
      [
        'component',
        'components',
        'A part of a project with an owner.',
        { projectKey: 'Project', name: 'Name', leadAccountId: 'Owner' },
      ],
      ['filter', 'filters', 'A saved JQL query.', { name: 'Name', jql: 'The query' }],
      [
        'dashboard',
        'dashboards',
        'A page of gadgets with figures.',
        { name: 'Name', sharePermissions: 'Who sees it' },
      ],
      [
        'worklog',
        'worklogs',
        'Time that somebody spent on an issue.',
        { issueKey: 'Issue', timeSpent: 'How long, such as 2h 30m', started: 'When' },
      ],
      [
        'attachment',
        'attachments',
        'A file of an issue.',
        { issueKey: 'Issue', filename: 'Name of the file' },
      ],
    ],
    specials: [
      [
        'transition-issue',
        'Moves an issue to another status of its workflow, such as In Progress or Done.',
        {
          issueKey: 'Issue',
          transitionId: 'Which transition',
          resolution: 'Why it is done: Done|Duplicate|Won’t Do',
        },
      ],
      ['assign-issue', 'Gives an issue to a person.', { issueKey: 'Issue', accountId: 'Person' }],
      [
        'add-comment',
        'Writes a comment under an issue.',
        { issueKey: 'Issue', body: 'Text', visibility: 'Who may read it' },
      ],
      [
        'link-issues',
        'Says how two issues depend on each other.',
        { inwardIssue: 'One', outwardIssue: 'The other', type: 'How: blocks|duplicates|relates to|clones' },
      ],
      [
        'add-watcher',
        'Lets somebody hear of changes of an issue.',
        { issueKey: 'Issue', accountId: 'Person' },
      ],
      ['move-issues-to-sprint', 'Plans issues into a sprint.', { sprintId: 'Sprint', issueKeys: 'Issues' }],
      [
        'rank-issues',
        'Changes the order of issues in the backlog.',
        { issueKeys: 'Issues', rankBefore: 'Put before this one' },
      ],
    ],
  },
  {
    ...{ name: 'confluence', product: 'Confluence', style: 'camel' },
    verbs: ['list', 'get', 'create', 'update', 'delete', 'search'],
    resources: [
      [
        'page',
        'pages',
        'A document of a wiki space.',
        { spaceKey: 'Space', title: 'Title', body: 'Text in storage format', parentId: 'Page above it' },
      ],
      ['space', 'spaces', 'A wiki of a team.', { key: 'Key', name: 'Name', description: 'What it is for' }],
      [
        'blogPost',
        'blogPosts',
        'A dated article of a space.',
        { spaceKey: 'Space', title: 'Title', body: 'Text' },
      ],
      [
        'comment',
        'comments',
        'A remark under a page.',
        { pageId: 'Page', body: 'Text', inline: 'Whether it is about a selection' },
      ],
      ['attachment', 'attachments', 'A file of a page.', { pageId: 'Page', filename: 'Name of the file' }],
      ['template', 'templates', 'A page to start from.', { spaceKey: 'Space', name: 'Name', body: 'Text' }],
      ['label', 'labels', 'A word by which pages are found.', { pageId: 'Page', name: 'The word' }],
      [
        'restriction',
        'restrictions',
        'Who may read or edit a page.',
        { pageId: 'Page', operation: 'What: read|update', group: 'For whom' },
      ],
    ],
    specials: [
      [
        'getPageHistory',
        'Shows the earlier versions of a page and who changed it.',
        { pageId: 'Page', limit: 'How many' },
      ],
      [
        'restorePageVersion',
        'Brings back an earlier version of a page.',
        { pageId: 'Page', version: 'Number of the version' },
      ],
      [
        'copyPageTree',
        'Copies a page with all pages under it.',
        { pageId: 'Page', destinationId: 'Where to' },
      ],
      ['exportPageToPdf', 'Makes a PDF of a page.', { pageId: 'Page' }],
    ],
  },
];
