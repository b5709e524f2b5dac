/** What somebody wants, in their own words, and the server and tool that do it. */
export interface CatalogQuery {
  readonly requestText: string;
  readonly server: string;
  readonly tool: string;
}

const query = (requestText: string, server: string, tool: string): CatalogQuery => ({
  requestText,
  server,
  tool,
});

/**
 * Written before the ranking was, and not changed to please it. At first it found 18 of them, and was mended where that taught something
 * of questions at large; so they say what works, and not how much of everything does.
 */
export const evaluationQueries: readonly CatalogQuery[] = [
  query('send a message to the #releases channel on Slack', 'slack', 'post_message'),
  query('which branches are there in the payments repo', 'github', 'list_branches'),
  query('open a bug report in our GitHub repo about the broken login', 'github', 'create_issue'),
  query('move PROJ-12 to Done in Jira', 'jira', 'transition-issue'),
  query('find a time when Anna, Ben and I are all free next week', 'outlook', 'find-meeting-times'),
  query('turn on my out of office reply until Monday', 'outlook', 'set-automatic-replies'),
  query('refund the customer half of what she paid', 'stripe', 'refund_charge'),
  query('how much did we spend on AWS last month?', 'aws', 'get-cost-and-usage'),
  query('who is on call right now?', 'pagerduty', 'list-on-calls'),
  query('why is this SQL query so slow', 'postgres', 'explain_query'),
  query('write down two hours of work on PROJ-7 in Jira', 'jira', 'create-worklog'),
  query('add a row to the budget spreadsheet', 'drive', 'append_rows'),
  query('restart the web server machine in EC2', 'aws', 'reboot-instances'),
  query('turn this lead into an opportunity', 'salesforce', 'convertLead'),
  query('show me the logs of the failed CI job', 'github', 'get_job_logs'),
  query('decline the invitation for Thursday’s meeting and say I am travelling', 'gcal', 'respondToEvent'),
  query('let Maria edit this file but nobody else', 'drive', 'set_permission'),
  query('go back to last week’s version of the onboarding wiki page', 'confluence', 'restorePageVersion'),
  query('cancel the customer’s plan at the end of the billing period', 'stripe', 'cancel_subscription'),
  query('swap my on-call shift with Tom this weekend', 'pagerduty', 'override-schedule'),
];

/** Those that the ranking was tried on while it was written. */
export const tuningQueries: readonly CatalogQuery[] = [
  query('post an announcement to slack tomorrow morning at nine', 'slack', 'schedule_message'),
  query('what changed between the tag v1.2 and main?', 'github', 'compare_refs'),
  query('close the incident, it is fixed', 'pagerduty', 'resolve-incident'),
  query('upload a file to S3', 'aws', 'put-object'),
  query('is there a meeting room with ten seats', 'gcal', 'searchRooms'),
  query('silence the CPU monitor for an hour', 'datadog', 'mute_monitor'),
  query('give the issue to Priya in Jira', 'jira', 'assign-issue'),
  query('make a discount of 20 percent for new customers', 'stripe', 'create_coupon'),
  query('kill the stuck database session', 'postgres', 'terminate_backend'),
  query('add a DNS record for the new subdomain', 'aws', 'change-record-set'),
  query('ask Kim to review my PR', 'github', 'request_reviewers'),
  query('leave an internal note for the agents on the support ticket', 'zendesk', 'add_ticket_comment'),
];
