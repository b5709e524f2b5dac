/** What somebody wants, in their own words, and the server and tool that do it. */
export interface Question {
  readonly asked: string;
  readonly server: string;
  readonly tool: string;
}

const question = (asked: string, server: string, tool: string): Question => ({ asked, server, tool });

/**
 * Written before the ranking was, and not changed to please it. At first it found 18 of them, and was mended where that taught something
 * of questions at large; so they say what works, and not how much of everything does.
 */
export const questions: readonly Question[] = [
  question('send a message to the #releases channel on Slack', 'slack', 'post_message'),
  question('which branches are there in the payments repo', 'github', 'list_branches'),
  question('open a bug report in our GitHub repo about the broken login', 'github', 'create_issue'),
  question('move PROJ-12 to Done in Jira', 'jira', 'transition-issue'),
  question('find a time when Anna, Ben and I are all free next week', 'outlook', 'find-meeting-times'),
  question('turn on my out of office reply until Monday', 'outlook', 'set-automatic-replies'),
  question('refund the customer half of what she paid', 'stripe', 'refund_charge'),
  question('how much did we spend on AWS last month?', 'aws', 'get-cost-and-usage'),
  question('who is on call right now?', 'pagerduty', 'list-on-calls'),
  question('why is this SQL query so slow', 'postgres', 'explain_query'),
  question('write down two hours of work on PROJ-7 in Jira', 'jira', 'create-worklog'),
  question('add a row to the budget spreadsheet', 'drive', 'append_rows'),
  question('restart the web server machine in EC2', 'aws', 'reboot-instances'),
  question('turn this lead into an opportunity', 'salesforce', 'convertLead'),
  question('show me the logs of the failed CI job', 'github', 'get_job_logs'),
  question('decline the invitation for Thursday’s meeting and say I am travelling', 'gcal', 'respondToEvent'),
  question('let Maria edit this file but nobody else', 'drive', 'set_permission'),
  question('go back to last week’s version of the onboarding wiki page', 'confluence', 'restorePageVersion'),
  question('cancel the customer’s plan at the end of the billing period', 'stripe', 'cancel_subscription'),
  question('swap my on-call shift with Tom this weekend', 'pagerduty', 'override-schedule'),
];

/** Those that the ranking was tried on while it was written. */
export const practice: readonly Question[] = [
  question('post an announcement to slack tomorrow morning at nine', 'slack', 'schedule_message'),
  question('what changed between the tag v1.2 and main?', 'github', 'compare_refs'),
  question('close the incident, it is fixed', 'pagerduty', 'resolve-incident'),
  question('upload a file to S3', 'aws', 'put-object'),
  question('is there a meeting room with ten seats', 'gcal', 'searchRooms'),
  question('silence the CPU monitor for an hour', 'datadog', 'mute_monitor'),
  question('give the issue to Priya in Jira', 'jira', 'assign-issue'),
  question('make a discount of 20 percent for new customers', 'stripe', 'create_coupon'),
  question('kill the stuck database session', 'postgres', 'terminate_backend'),
  question('add a DNS record for the new subdomain', 'aws', 'change-record-set'),
  question('ask Kim to review my PR', 'github', 'request_reviewers'),
  question('leave an internal note for the agents on the support ticket', 'zendesk', 'add_ticket_comment'),
];
