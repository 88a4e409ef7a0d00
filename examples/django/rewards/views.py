import os
from dataclasses import asdict

from django.db.models import Sum
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST
from intermission_ads import Ads, WebhookRefused, verify_webhook

from .models import AdPayment

token = os.environ["AD_API_TOKEN"]
ads = Ads(os.environ["AD_SERVICE_URL"], token, os.environ["BOT_ID"])


# The signature takes the place of Django's token against forgery. It covers the bytes as they arrived.
@csrf_exempt
@require_POST
def webhook(request: HttpRequest) -> JsonResponse:
    try:
        event = verify_webhook(request.body, request.headers, token)
    except WebhookRefused as refused:
        return JsonResponse({"error": {"code": refused.code, "message": str(refused)}}, status=refused.status)
    if not event.is_test:
        # Stored before the answer: everything but a 2xx makes the ad service send the event again.
        AdPayment.objects.get_or_create(event_id=event.event_id, defaults={"user_id": event.user_id, "coins": 10})
    return JsonResponse({"status": "ok"})


# Your bot would call these two; here anybody on this machine may.
@require_GET
def new_ad(_request: HttpRequest, user_id: str) -> JsonResponse:
    return JsonResponse(asdict(ads.create_code(user_id)))


@require_GET
def coins(_request: HttpRequest, user_id: str) -> JsonResponse:
    paid = AdPayment.objects.filter(user_id=user_id).aggregate(coins=Sum("coins"))
    return JsonResponse({"coins": paid["coins"] or 0})
