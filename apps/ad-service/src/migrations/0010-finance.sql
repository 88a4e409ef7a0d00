-- People who keep the accounts. Versions before do not know the role: a person with it is refused there.
-- works-with: 0009-own-accounts
alter table people drop constraint people_role_check,
  add constraint people_role_check check (role in ('owner', 'ad-ops', 'finance', 'analyst', 'advertiser', 'publisher'));
